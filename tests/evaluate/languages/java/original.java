import java.util.Scanner;

public class Primes {
    static boolean isPrime(int n) {
        for (int d = 2; d * d <= n; d++) {
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
