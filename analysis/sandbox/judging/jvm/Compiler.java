package assay.sandbox;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.type.WildcardType;
import javax.lang.model.util.ElementFilter;
import javax.lang.model.util.Elements;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * The compile daemon. A frame holds a program and a test; the answer is `O` with the program's class files, the name of the test's class
 * and the class files for the judge (test and stand-ins), or `E` with the compiler's messages, or `U` where the test can't be used.
 */
public final class Compiler {
    private static final List<String> OPTIONS = List.of("-proc:none", "-g:source,lines", "-nowarn", "-encoding", "UTF-8");
    /** The relay of the frames (call_relay.py) takes no longer one. */
    private static final int MOST_BYTES = 1 << 24;
    private static final List<String> EVERYWHERE = List.of("java.lang.", "java.util.");
    private static final Pattern IMPORTED = Pattern.compile("\\bimport\\s+(?:static\\s+)?([\\w$]+(?:\\s*\\.\\s*[\\w$]+)*\\s*\\.)\\s*\\*");
    /** Where names of packages begin, in a test or in the stand-ins: no class or field of the program may hide them. */
    private static final Set<String> ROOTS = Set.of("java", "javax", "jdk", "sun", "com", "org", "assay");

    private final JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    private final StandardJavaFileManager bare = javac.getStandardFileManager(null, Locale.ROOT, null);
    private final StandardJavaFileManager withStandIns = javac.getStandardFileManager(null, Locale.ROOT, null);

    /** Whether a program has made the compiler fail, so that this virtual machine should compile no other one. */
    private boolean broken;

    private Compiler(String ownClasses) throws IOException {
        bare.setLocation(StandardLocation.CLASS_PATH, List.of());
        withStandIns.setLocation(StandardLocation.CLASS_PATH, List.of(new File(ownClasses)));
    }

    /** args: the folder of this sandbox's compiled classes. */
    public static void main(String[] args) throws IOException {
        Compiler compiler = new Compiler(args[0]);
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        System.setOut(System.err);
        DataInputStream frame;
        while (!compiler.broken && (frame = Frames.readFrame(in)) != null) {
            Frames.writeFrame(compiler.answer(Frames.readString(frame), Frames.readString(frame)), out);
        }
    }

    private byte[] answer(String program, String test) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            compile(program, test, out);
        } catch (Rejected e) {
            bytes.reset();
            out.writeByte(e.kind);
            out.write(e.getMessage().getBytes(StandardCharsets.UTF_8));
        } catch (RuntimeException | Error e) {
            broken = true;
            bytes.reset();
            out.writeByte('E');
            out.write(("the compiler failed: " + e).getBytes(StandardCharsets.UTF_8));
        }
        if (bytes.size() > MOST_BYTES) {
            bytes.reset();
            out.writeByte(test.length() > MOST_BYTES / 8 ? 'U' : 'E');
            out.write("the class files are too large".getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    private static final class Rejected extends Exception {
        final char kind;

        Rejected(char kind, String message) {
            super(message);
            this.kind = kind;
        }
    }

    private void compile(String program, String test, DataOutputStream out) throws IOException, Rejected {
        Task first = new Task(bare, List.of(new Source("Program", program)));
        if (packageOf(first.units.get(0)).matches("package assay\\b.*")) {
            throw new Rejected('E', "Program.java: the package assay is taken");
        }
        List<TypeElement> tops = first.classes("Program");
        Elements elements = first.javac.getElements();
        List<String> packages = seen(first.units.get(0), test);
        // a class whose name would hide one of the library's that the test may mean, such as Objects, is not visible to it
        List<TypeElement> visible = tops.stream()
                .filter(top -> !hides(top.getSimpleName().toString(), packages, elements))
                .collect(Collectors.toList());
        StandIns standIns = new StandIns(elements, first.javac.getTypes(), visible);
        String head = head(first.units.get(0), packages, elements);
        List<Source> sources = new ArrayList<>();
        String home = packageOf(first.units.get(0));
        for (TypeElement top : visible) {
            // no class can have a name with a space, so none of the program's is taken for the test's
            sources.add(new Source("stand-in of " + top.getSimpleName(), home + standIns.source(top)));
        }
        sources.add(new Source("Test", head + test));
        first.generate();
        Task second = new Task(withStandIns, sources);
        TypeElement main = second.classes("Test").stream().filter(Compiler::hasMain).findFirst().orElse(null);
        if (main == null) {
            throw new Rejected('U', "the test has no class with a method main(String[])");
        }
        rejectStaticCallsOnValues(second, visible);
        rejectOpenAnswers(second);
        rejectCapturedNames(second);
        String mainName = second.javac.getElements().getBinaryName(main).toString();
        second.generate();
        out.writeByte('O');
        writeClasses(first.classFiles, out);
        Frames.writeString(mainName, out);
        writeClasses(second.classFiles, out);
    }

    /**
     * Rejects a program with a static method that the test calls on a value, as in `solution.f(x).startsWith("a")`: what the program gave
     * would decide the verdict, and the call does not show that it was made on it.
     */
    private static void rejectStaticCallsOnValues(Task task, List<TypeElement> own) throws Rejected {
        List<String> names = own.stream().map(type -> type.getQualifiedName().toString()).collect(Collectors.toList());
        Trees trees = Trees.instance(task.javac);
        List<String> found = new ArrayList<>();
        scan(task, true, new TreePathScanner<>() {
            @Override
            public Void visitMemberSelect(MemberSelectTree select, Void nothing) {
                Element member = trees.getElement(getCurrentPath());
                Element of = trees.getElement(new TreePath(getCurrentPath(), select.getExpression()));
                if (member instanceof ExecutableElement
                        && member.getModifiers().contains(Modifier.STATIC)
                        && !(of instanceof TypeElement)
                        && names.stream().anyMatch(name -> member.getEnclosingElement().toString().startsWith(name))) {
                    found.add(member.getEnclosingElement() + "." + member.getSimpleName());
                }
                return super.visitMemberSelect(select, nothing);
            }
        });
        if (!found.isEmpty()) {
            throw new Rejected('E', "the test needs " + found.get(0) + " of a value that the program gave, whose word does not count");
        }
    }

    /**
     * Rejects a program with a method {@code <T> T f(int x)} that the test asks for yes or no: it fits wherever it is called, also with null,
     * which a test that looks for a no takes for a yes. Where a parameter has to do with T, what the test gives says what fits.
     */
    private static void rejectOpenAnswers(Task task) throws Rejected {
        Trees trees = Trees.instance(task.javac);
        Set<String> found = new TreeSet<>();
        scan(task, true, new TreePathScanner<>() {
            @Override
            public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
                Element called = trees.getElement(getCurrentPath());
                if (called instanceof ExecutableElement method
                        && method.getReturnType() instanceof TypeVariable answer
                        && answer.asElement().getEnclosingElement().equals(method)
                        && !isBound(answer, method)
                        && task.isOwn(method)
                        && String.valueOf(trees.getTypeMirror(getCurrentPath())).equals("java.lang.Boolean")) {
                    found.add(method.getEnclosingElement() + "." + method.getSimpleName());
                }
                return super.visitMethodInvocation(call, nothing);
            }
        });
        if (!found.isEmpty()) {
            throw new Rejected('E', "the test asks yes or no of what is declared to give anything: " + found);
        }
    }

    /** Scans the test, or the other sources. */
    private static void scan(Task task, boolean test, TreePathScanner<Void, Void> scanner) {
        for (CompilationUnitTree unit : task.units) {
            if (isTest(unit) == test) {
                scanner.scan(unit, null);
            }
        }
    }

    private static boolean isTest(CompilationUnitTree unit) {
        return unit.getSourceFile().toUri().equals(Source.uri("Test"));
    }

    /** Whether each call gives an argument that has to do with a type variable; for one of any number it may give none. */
    private static boolean isBound(TypeVariable variable, ExecutableElement method) {
        int given = method.getParameters().size() - (method.isVarArgs() ? 1 : 0);
        return method.getParameters().stream().limit(given).anyMatch(parameter -> mentions(parameter.asType(), variable));
    }

    private static boolean mentions(TypeMirror type, TypeVariable variable) {
        if (type instanceof ArrayType array) {
            return mentions(array.getComponentType(), variable);
        }
        if (type instanceof WildcardType any) {
            return Stream.of(any.getExtendsBound(), any.getSuperBound()).anyMatch(bound -> bound != null && mentions(bound, variable));
        }
        return (type instanceof TypeVariable same && same.asElement().equals(variable.asElement()))
                || (type instanceof DeclaredType declared && declared.getTypeArguments().stream().anyMatch(inner -> mentions(inner, variable)));
    }

    /** Rejects a program with a nested class, a field or a type parameter that a stand-in takes for the package of what it calls. */
    private static void rejectCapturedNames(Task task) throws Rejected {
        Trees trees = Trees.instance(task.javac);
        Set<String> found = new TreeSet<>();
        scan(task, false, new TreePathScanner<>() {
            @Override
            public Void visitIdentifier(IdentifierTree identifier, Void nothing) {
                String name = identifier.getName().toString();
                if (ROOTS.contains(name) && !(trees.getElement(getCurrentPath()) instanceof PackageElement)) {
                    found.add(name);
                }
                return null;
            }
        });
        if (!found.isEmpty()) {
            throw new Rejected('E', "Program.java: it may not use the name of a package for something else: " + found);
        }
    }

    /** The library's packages and classes whose classes a test can name without an import of each. */
    private static List<String> seen(CompilationUnitTree program, String test) {
        List<String> packages = new ArrayList<>(EVERYWHERE);
        for (ImportTree item : program.getImports()) {
            String name = item.getQualifiedIdentifier().toString();
            if (!item.isStatic() && name.startsWith("java.") && name.endsWith(".*")) {
                packages.add(name.substring(0, name.length() - 1));
            }
        }
        IMPORTED.matcher(test).results().forEach(found -> packages.add(found.group(1).replaceAll("\\s", "")));
        return packages;
    }

    private static boolean hides(String name, List<String> packages, Elements elements) {
        return ROOTS.contains(name) || packages.stream().anyMatch(from -> brings(from, name, elements));
    }

    /** Whether an import of all of a package or class of the library brings a class of this name. */
    private static boolean brings(String from, String name, Elements elements) {
        TypeElement found = elements.getTypeElement(from + name);
        TypeElement around = elements.getTypeElement(from.substring(0, from.length() - 1));
        if (found == null && around != null) {
            found = ElementFilter.typesIn(elements.getAllMembers(around)).stream()
                    .filter(inner -> inner.getSimpleName().contentEquals(name))
                    .findFirst()
                    .orElse(null);
        }
        return found != null && !elements.getModuleOf(found).isUnnamed();
    }

    private static String packageOf(CompilationUnitTree unit) {
        return unit.getPackageName() == null ? "" : "package " + unit.getPackageName() + ";";
    }

    /** Put before the test on its first line: the program's package, and those of its imports that can't change the meaning of the test. */
    private static String head(CompilationUnitTree unit, List<String> packages, Elements elements) {
        StringBuilder text = new StringBuilder(packageOf(unit));
        for (ImportTree item : unit.getImports()) {
            String name = item.getQualifiedIdentifier().toString();
            boolean library = !item.isStatic() && name.startsWith("java.");
            boolean harmless = name.endsWith(".*")
                    || EVERYWHERE.stream().anyMatch(name::startsWith)
                    || !hides(name.substring(name.lastIndexOf('.') + 1), packages, elements);
            if (library && harmless) {
                text.append("import ").append(name).append(';');
            }
        }
        return text.toString();
    }

    private static boolean hasMain(TypeElement type) {
        return ElementFilter.methodsIn(type.getEnclosedElements()).stream().anyMatch(method ->
                method.getModifiers().contains(Modifier.STATIC)
                        && method.getSimpleName().contentEquals("main")
                        && method.getParameters().size() == 1);
    }

    private static void writeClasses(Map<String, ByteArrayOutputStream> classes, DataOutputStream out) throws IOException {
        out.writeInt(classes.size());
        for (Map.Entry<String, ByteArrayOutputStream> entry : classes.entrySet()) {
            Frames.writeString(entry.getKey(), out);
            Frames.writeBytes(entry.getValue().toByteArray(), out);
        }
    }

    /** One compilation: the classes as the compiler knows them, and their files. */
    private final class Task {
        final Map<String, ByteArrayOutputStream> classFiles = new LinkedHashMap<>();
        final List<CompilationUnitTree> units = new ArrayList<>();
        final JavacTask javac;
        private final List<TypeElement> analyzed = new ArrayList<>();
        private final DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();

        Task(StandardJavaFileManager files, List<Source> sources) throws IOException, Rejected {
            javac = (JavacTask) Compiler.this.javac.getTask(null, new InMemory(files, classFiles), messages, OPTIONS, null, sources);
            javac.setLocale(Locale.ROOT);
            javac.parse().forEach(units::add);
            for (Element element : javac.analyze()) {
                if (element instanceof TypeElement type) {
                    analyzed.add(type);
                }
            }
            rejectErrors();
        }

        /** Whether a method is of a source of this task that is no test, thus of a stand-in. */
        boolean isOwn(ExecutableElement method) {
            TreePath path = Trees.instance(javac).getPath(method);
            return path != null && !isTest(path.getCompilationUnit());
        }

        /** Make the class files. After that the compiler gives no more information on the classes. */
        void generate() throws IOException, Rejected {
            javac.generate();
            rejectErrors();
        }

        private void rejectErrors() throws Rejected {
            List<String> errors = messages.getDiagnostics().stream()
                    .filter(m -> m.getKind() == Diagnostic.Kind.ERROR)
                    .map(Compiler::message)
                    .collect(Collectors.toList());
            if (!errors.isEmpty()) {
                throw new Rejected('E', String.join("\n", errors));
            }
        }

        /** The top-level classes of a source. */
        List<TypeElement> classes(String source) {
            Trees trees = Trees.instance(javac);
            return analyzed.stream()
                    .filter(t -> t.getEnclosingElement() instanceof PackageElement)
                    .filter(t -> trees.getPath(t).getCompilationUnit().getSourceFile().toUri().equals(Source.uri(source)))
                    .collect(Collectors.toList());
        }
    }

    private static String message(Diagnostic<? extends JavaFileObject> message) {
        String where = message.getSource() instanceof Source source ? source.name + ".java:" + message.getLineNumber() + ": " : "";
        return where + message.getMessage(Locale.ROOT);
    }

    private static final class Source extends SimpleJavaFileObject {
        final String name;
        private final String text;

        Source(String name, String text) {
            super(uri(name), Kind.SOURCE);
            this.name = name;
            this.text = text;
        }

        static URI uri(String name) {
            return URI.create("string:///" + URLEncoder.encode(name, StandardCharsets.UTF_8) + ".java");
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }

        /** Accepts a public class in a source of any name. */
        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true;
        }
    }

    private static final class InMemory extends ForwardingJavaFileManager<StandardJavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes;

        InMemory(StandardJavaFileManager files, Map<String, ByteArrayOutputStream> classes) {
            super(files);
            this.classes = classes;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    classes.put(className, bytes);
                    return bytes;
                }
            };
        }

        @Override
        public void close() {
            // the file managers are used by every compilation
        }
    }
}
