// The work of the original on four threads, so that the process itself uses no time: the clock counts all threads.
use std::io;
use std::thread;

fn is_prime(n: u32) -> bool {
    let mut d = 2;
    while d * d <= n {
        if n % d == 0 {
            return false;
        }
        d += 1;
    }
    n > 1
}

fn main() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let n: u32 = line.trim().parse().unwrap();
    let parts: Vec<_> = (0..4)
        .map(|part| thread::spawn(move || (part..n).step_by(4).filter(|&one| is_prime(one)).count()))
        .collect();
    println!("{}", parts.into_iter().map(|one| one.join().unwrap()).sum::<usize>());
}
