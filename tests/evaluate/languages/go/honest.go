package main

import "fmt"

func isPrime(n uint32) bool {
	if n%2 == 0 {
		return n == 2
	}
	for d := uint32(3); d*d <= n; d += 2 {
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
