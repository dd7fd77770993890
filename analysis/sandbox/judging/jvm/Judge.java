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
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Runs one trusted test after the other, each with stand-ins for the program's classes. A frame holds the name of the test's class and the
 * class files; its answer is a frame `P` (passed), `F` with the reason, or `U` with the reason why the test can give no verdict.
 */
public final class Judge {
    private static final int LONGEST_REASON = 2000;

    private Judge() {}

    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(Judge.class.getClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = classes.get(name);
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in)));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        DataInputStream frame;
        while ((frame = Frames.readFrame(in)) != null) {
            String main = Frames.readString(frame);
            Loader loader = new Loader(Frames.readClasses(frame));
            loader.setDefaultAssertionStatus(true);
            Remote.begin(in, out, loader);
            Throwable thrown = run(loader, main);
            if (Remote.brokenBy() != null) {
                thrown = Remote.brokenBy();
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream verdict = new DataOutputStream(bytes);
            verdict.writeByte(thrown == null ? 'P' : thrown instanceof Remote.CannotJudge ? 'U' : 'F');
            verdict.write((thrown == null ? "" : shortened(reason(thrown))).getBytes(StandardCharsets.UTF_8));
            Frames.writeFrame(bytes.toByteArray(), out);
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
