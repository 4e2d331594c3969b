"use strict";

function isPrime(n) {
  for (let d = 2; d * d <= n; d++) {
    if (n % d === 0) return false;
  }
  return n > 1;
}

const n = parseInt(require("fs").readFileSync(0, "utf8"), 10);
let count = 0;
for (let one = 0; one < n; one++) {
  if (isPrime(one)) count++;
}
console.log(count);
