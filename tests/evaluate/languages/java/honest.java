import java.util.Scanner;

public class Primes {
    static boolean isPrime(int n) {
        if (n % 2 == 0) {
            return n == 2;
        }
        for (int d = 3; d * d <= n; d += 2) {
            if (n % d == 0) {
                return false;
            }
        }
        return n > 1;
    }

    public static void main(String[] arguments) {
        int n = new Scanner(System.in).nextInt();
        int count = 0;
        for (int one = 0; one < n; one++) {
            if (isPrime(one)) {
                count++;
            }
        }
        System.out.println(count);
    }
}
