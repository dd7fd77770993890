package assay.sandbox;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/**
 * Runs one trusted test, with stand-ins for the program's classes. A frame holds the name of the test's class and the class files; its
 * answer is a frame `P` (passed), `F` with the reason, `U` with the reason why the test can give no verdict, or `D` where the test has
 * called System.exit: then the status of this process is the verdict.
 */
public final class Judge {
    private static final int LONGEST_REASON = 2000;

    private static DataOutputStream out;
    private static volatile Throwable uncaught;
    private static boolean ended;

    private Judge() {}

    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in)));
        out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        DataInputStream frame = Frames.readFrame(in);
        if (frame == null) {
            return;
        }
        String main = Frames.readString(frame);
        Loader loader = new Loader(Judge.class.getClassLoader(), Frames.readClasses(frame));
        loader.setDefaultAssertionStatus(true);
        Remote.begin(in, out, loader);
        // no lambdas here: the first one costs 10 ms
        Thread.setDefaultUncaughtExceptionHandler(new Thread.UncaughtExceptionHandler() {
            @Override
            public void uncaughtException(Thread thread, Throwable thrown) {
                uncaught = thrown;
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread() {
            @Override
            public void run() {
                end('D', null);
            }
        });
        Throwable thrown = run(loader, main);
        if (thrown == null && Remote.brokenBy() == null) {
            awaitThreads();
        }
        end('P', thrown);
    }

    /** Wait for the threads that the test started, as a virtual machine does before it ends: they may find that the program is wrong. */
    private static void awaitThreads() {
        boolean waited = true;
        while (waited) {
            waited = false;
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (!thread.isDaemon() && thread != Thread.currentThread()) {
                    waited = true;
                    try {
                        thread.join();
                    } catch (InterruptedException e) {
                        // by the test, which may do so: look again
                    }
                }
            }
        }
    }

    /** Send the verdict, once; good: its letter if nothing has gone wrong. No call may be under way, whose frame it would be mixed with. */
    private static void end(char good, Throwable thrown) {
        synchronized (Remote.class) {
            if (ended) {
                return;
            }
            ended = true;
            Throwable cause = Remote.brokenBy() != null ? Remote.brokenBy() : thrown != null ? thrown : uncaught;
            try {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                DataOutputStream verdict = new DataOutputStream(bytes);
                verdict.writeByte(cause == null ? good : cause instanceof Remote.CannotJudge ? 'U' : 'F');
                verdict.write((cause == null ? "" : shortened(reason(cause))).getBytes(StandardCharsets.UTF_8));
                Frames.writeFrame(bytes.toByteArray(), out);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static Throwable run(Loader loader, String name) {
        try {
            Method main = loader.loadClass(name).getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            main.invoke(null, (Object) new String[0]);
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (ReflectiveOperationException | LinkageError e) {
            return e;
        }
    }

    /** Cuts a message, which may hold the program's values, of any length. */
    private static String shortened(String reason) {
        return reason.length() <= LONGEST_REASON ? reason : reason.substring(0, LONGEST_REASON);
    }

    /** The exception, and the line of the test that it passed. */
    private static String reason(Throwable thrown) {
        if (thrown instanceof Remote.BadReply || thrown instanceof Remote.CannotJudge) {
            return thrown.getMessage();
        }
        String message;
        try {
            message = thrown.toString();
        } catch (RuntimeException e) {
            message = thrown.getClass().getName();
        }
        for (StackTraceElement element : thrown.getStackTrace()) {
            if ("Test.java".equals(element.getFileName())) {
                return message + " at line " + element.getLineNumber() + " of the test";
            }
        }
        return message;
    }
}
