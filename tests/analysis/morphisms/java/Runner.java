import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Runs p0.Main, p1.Main and so on, each for at most some milliseconds, and writes into 0.txt, 1.txt how each ended and what it printed. */
public class Runner {
    @SuppressWarnings({"deprecation", "removal"})
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            String name = "p" + i + ".Main";
            String[] ending = {"timed out"};
            Thread thread = new Thread(() -> {
                try {
                    Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                    ending[0] = "ended";
                } catch (InvocationTargetException error) {
                    if (!(error.getCause() instanceof ThreadDeath)) {
                        ending[0] = "threw " + error.getCause().getClass().getName();
                    }
                } catch (ReflectiveOperationException error) {
                    ending[0] = "threw " + error;
                }
            });
            thread.setDaemon(true);
            Bounded printed = new Bounded();
            System.setOut(new PrintStream(printed, true));
            thread.start();
            thread.join(Long.parseLong(args[0]));
            for (int tries = 0; thread.isAlive() && tries < 20; tries++) {
                thread.stop();
                thread.join(100);
            }
            Files.writeString(Path.of(i + ".txt"), ending[0] + "\n" + printed.toString(StandardCharsets.UTF_8));
        }
        System.exit(0);
    }

    /** What never ends may print for seconds. */
    private static final class Bounded extends ByteArrayOutputStream {
        @Override
        public synchronized void write(byte[] bytes, int start, int length) {
            super.write(bytes, start, Math.min(length, Math.max(0, (1 << 16) - count)));
        }
    }
}
