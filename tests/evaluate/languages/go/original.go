package main

import "fmt"

func isPrime(n uint32) bool {
	for d := uint32(2); d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

func main() {
	var n, count uint32
	fmt.Scan(&n)
	for one := uint32(0); one < n; one++ {
		if isPrime(one) {
			count++
		}
	}
	fmt.Println(count)
}
