import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles and runs many programs in one process. Each is a file with a class Main and no package.
 *
 * In: the number of programs, then each as its length in bytes and its text. Out, for each in order: the length of a report and the report,
 * whose first line is "uncompilable", "timed out", "threw NAME" or "ended" and whose other lines are the compiler's message or what the
 * program printed. Again until the input ends.
 */
public class Runner {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    private static final List<String> OPTIONS = Arrays.asList("-proc:none", "-nowarn", "-Xlint:none", "-g:none");
    private static final int BATCH = 40;
    private static final int MOST_OUTPUT = 1 << 16;

    public static void main(String[] args) throws Exception {
        long limit = Long.parseLong(args[0]);
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (IOException end) {
                System.exit(0);
                return;
            }
            List<String> programs = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                programs.add(new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8));
            }
            for (int i = 0; i < count; i += BATCH) {
                for (String report : batch(programs.subList(i, Math.min(count, i + BATCH)), limit)) {
                    byte[] bytes = report.getBytes(StandardCharsets.UTF_8);
                    out.writeInt(bytes.length);
                    out.write(bytes);
                }
            }
            out.flush();
        }
    }

    private static String[] batch(List<String> programs, long limit) throws Exception {
        String[] reports = new String[programs.size()];
        Map<String, byte[]> classes = new HashMap<>();
        while (true) {
            List<Source> sources = new ArrayList<>();
            for (int i = 0; i < programs.size(); i++) {
                if (reports[i] == null) {
                    sources.add(new Source(i, programs.get(i)));
                }
            }
            DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
            Memory memory = new Memory(FILES);
            if (sources.isEmpty() || COMPILER.getTask(null, memory, found, OPTIONS, null, sources).call()) {
                memory.written.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
                break;
            }
            for (Diagnostic<? extends JavaFileObject> one : found.getDiagnostics()) {
                if (one.getKind() == Diagnostic.Kind.ERROR && one.getSource() instanceof Source) {
                    int index = ((Source) one.getSource()).index;
                    if (reports[index] == null) {
                        reports[index] = "uncompilable\nline " + one.getLineNumber() + ": " + one.getMessage(null);
                    }
                }
            }
        }
        for (int i = 0; i < reports.length; i++) {
            if (reports[i] == null) {
                reports[i] = run("p" + i + ".Main", new Loaded(classes), limit);
            }
        }
        return reports;
    }

    @SuppressWarnings({"deprecation", "removal"})
    private static String run(String name, ClassLoader loader, long limit) throws InterruptedException {
        PrintStream before = System.out;
        Bounded printed = new Bounded();
        String[] ending = {"timed out"};
        Thread thread = new Thread(() -> {
            try {
                loader.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                ending[0] = "ended";
            } catch (java.lang.reflect.InvocationTargetException error) {
                if (!(error.getCause() instanceof ThreadDeath)) {
                    ending[0] = "threw " + error.getCause().getClass().getName();
                }
            } catch (ThreadDeath stopped) {
                return;
            } catch (Throwable error) {
                ending[0] = "threw " + error;
            }
        });
        thread.setDaemon(true);
        System.setOut(new PrintStream(printed, true));
        try {
            thread.start();
            thread.join(limit);
            for (int tries = 0; thread.isAlive() && tries < 20; tries++) {
                thread.stop();
                thread.join(100);
            }
        } finally {
            System.setOut(before);
        }
        return ending[0] + "\n" + printed.text();
    }

    private static final class Source extends SimpleJavaFileObject {
        final int index;
        private final String text;

        Source(int index, String program) {
            super(URI.create("memory:///p" + index + "/Main.java"), Kind.SOURCE);
            this.index = index;
            this.text = "package p" + index + "; " + program;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, ByteArrayOutputStream> written = new HashMap<>();

        Memory(JavaFileManager standard) {
            super(standard);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    written.put(name, bytes);
                    return bytes;
                }
            };
        }
    }

    private static final class Loaded extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loaded(Map<String, byte[]> classes) {
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

    private static final class Bounded extends OutputStream {
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int one) {
            if (kept.size() < MOST_OUTPUT) {
                kept.write(one);
            }
        }

        String text() {
            return kept.toString(StandardCharsets.UTF_8);
        }
    }
}
