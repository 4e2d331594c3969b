"""What this machine is and what it can do: description, CPU pressure, machine code, roofline."""
