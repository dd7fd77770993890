package assay.sandbox;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The process of the program. It reports that it is ready, gets class files in its first frame, then one call in each, and answers each
 * call with values. Nothing here is trusted: whatever the program does to this process, it can only change the values.
 */
public final class Runner implements Wire.Handles {
    private final Loader loader;
    private final List<Object> objects = new ArrayList<>();
    private final IdentityHashMap<Object, Integer> ids = new IdentityHashMap<>();

    private Runner(Loader loader) {
        this.loader = loader;
    }

    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(new FileInputStream(FileDescriptor.in)));
        DataOutputStream out = new DataOutputStream(new java.io.BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        System.setIn(InputStream.nullInputStream());
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.err), true));
        Frames.writeFrame(new byte[] {'H'}, out);
        DataInputStream frame = Frames.readFrame(in);
        if (frame == null) {
            return;
        }
        Runner runner = new Runner(new Loader(ClassLoader.getPlatformClassLoader(), Frames.readClasses(frame)));
        while ((frame = Frames.readFrame(in)) != null) {
            Frames.writeFrame(runner.answer(frame), out);
        }
        System.exit(0);
    }

    private byte[] answer(DataInputStream call) throws IOException {
        Wire wire = new Wire(this);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            if (call.readUnsignedByte() != 'C') {
                throw new IOException("not a call");
            }
            int operation = call.readUnsignedByte();
            Object self = wire.read(call);
            String owner = Frames.readString(call);
            String name = Frames.readString(call);
            String descriptor = Frames.readString(call);
            Object[] arguments = new Object[call.readUnsignedByte()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = wire.read(call);
            }
            List<Object> containers = List.copyOf(wire.known());
            List<Object[]> before = new ArrayList<>();
            for (Object container : containers) {
                before.add(Kind.contents(container));
            }
            Object value = null;
            Throwable thrown = null;
            try {
                value = perform(operation, self, owner, name, descriptor, arguments);
            } catch (InvocationTargetException e) {
                thrown = e.getCause();
            }
            writeReply(wire, containers, before, value, thrown, out);
        } catch (Wire.Untransportable | StackOverflowError | ReflectiveOperationException e) {
            bytes.reset();
            out.writeByte('X');
            Frames.writeString(e instanceof StackOverflowError ? "a value that is nested too deeply" : String.valueOf(e.getMessage()), out);
        }
        return bytes.toByteArray();
    }

    private void writeReply(
            Wire wire, List<Object> containers, List<Object[]> before, Object value, Throwable thrown, DataOutputStream out)
            throws IOException {
        out.writeByte(thrown == null ? 'R' : 'T');
        List<Integer> changed = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            if (!same(before.get(i), Kind.contents(containers.get(i)))) {
                changed.add(i);
            }
        }
        out.writeInt(changed.size());
        for (int number : changed) {
            out.writeInt(number);
            wire.writeContents(containers.get(number), out);
        }
        if (thrown == null) {
            wire.write(value, out);
        } else {
            writeThrown(thrown, out);
        }
    }

    /** The names of an exception's class and its superclasses, and its message. */
    private static void writeThrown(Throwable thrown, DataOutputStream out) throws IOException {
        List<String> names = new ArrayList<>();
        for (Class<?> type = thrown.getClass(); type != Object.class; type = type.getSuperclass()) {
            names.add(type.getName());
        }
        Frames.writeStrings(names, out);
        String message;
        try {
            message = thrown.getMessage();
        } catch (Throwable e) {
            message = null;
        }
        out.writeBoolean(message != null);
        if (message != null) {
            Frames.writeString(message, out);
        }
    }

    private static boolean same(Object[] before, Object[] after) {
        if (before.length != after.length) {
            return false;
        }
        for (int i = 0; i < before.length; i++) {
            boolean scalar = before[i] instanceof Number || before[i] instanceof String || before[i] instanceof Character;
            boolean equal = scalar && after[i] != null && before[i].getClass() == after[i].getClass() && before[i].equals(after[i]);
            if (before[i] != after[i] && !equal) {
                return false;
            }
        }
        return true;
    }

    private Object perform(int operation, Object self, String owner, String name, String descriptor, Object[] arguments)
            throws ReflectiveOperationException {
        Class<?> type = Class.forName(owner, false, loader);
        if (operation == 'f') {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            try {
                return field.get(null);
            } catch (ExceptionInInitializerError e) {
                throw new InvocationTargetException(e);
            }
        }
        try {
            if (operation == 'n') {
                for (Constructor<?> constructor : type.getDeclaredConstructors()) {
                    if (descriptor(constructor, void.class).equals(descriptor)) {
                        constructor.setAccessible(true);
                        return id(constructor.newInstance(arguments));
                    }
                }
            } else {
                for (Method method : type.getDeclaredMethods()) {
                    boolean named = method.getName().equals(name) && !method.isBridge();
                    if (named && descriptor(method, method.getReturnType()).equals(descriptor)) {
                        method.setAccessible(true);
                        return method.invoke(Modifier.isStatic(method.getModifiers()) ? null : self, arguments);
                    }
                }
            }
        } catch (ExceptionInInitializerError e) {
            throw new InvocationTargetException(e);
        }
        throw new NoSuchMethodException(owner + "." + name + descriptor);
    }

    private static String descriptor(Executable executable, Class<?> result) {
        return MethodType.methodType(result, executable.getParameterTypes()).toMethodDescriptorString();
    }

    private long id(Object value) {
        return ids.computeIfAbsent(value, v -> {
            objects.add(v);
            return objects.size() - 1;
        });
    }

    @Override
    public boolean write(Object value, DataOutputStream out) throws IOException {
        if (value.getClass().getClassLoader() != loader) {
            return false;
        }
        out.writeLong(id(value));
        List<String> names = new ArrayList<>();
        for (Class<?> type = value.getClass(); type != null && type.getClassLoader() == loader; type = type.getSuperclass()) {
            names.add(type.getName());
        }
        Frames.writeStrings(names, out);
        return true;
    }

    @Override
    public Object read(DataInputStream in) throws IOException {
        return objects.get((int) in.readLong());
    }

    @Override
    public Class<?> elementClass(String name) throws ClassNotFoundException {
        return Class.forName(name, false, loader);
    }
}
