package assay.sandbox;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The calls of stand-ins. One test runs at a time; its connection is held here, where generated code finds it. */
public final class Remote {
    private static Session session;

    private Remote() {}

    /** The test is at fault, not the program: no verdict can be given. */
    static final class CannotJudge extends Error {
        CannotJudge(String message) {
            super(message);
        }
    }

    /** The program's process answered with something that is no value, or with a value that can't be sent. */
    static final class BadReply extends Error {
        BadReply(String message) {
            super(message);
        }
    }

    static void begin(DataInputStream in, DataOutputStream out, ClassLoader loader) {
        session = new Session(in, out, loader);
    }

    /** What ended the exchange before the test did, even where the test caught it; null if nothing. */
    static Error brokenBy() {
        return session.verdict;
    }

    static void standsFor(long id, StandIn object) {
        session.objects.put(id, object);
    }

    /** Call a method; self is null for a static one. */
    public static Object call(Object self, String owner, String name, String descriptor, Object[] arguments) {
        boolean given = self instanceof StandIn object && object.given;
        Object result = session.exchange('i', self, owner, name, descriptor, arguments);
        if (given && judges(name, arguments, result)) {
            throw session.broken(new BadReply("the test needs " + name + "() of an object of the program's class " + owner
                    + ", on which the program's word does not count"));
        }
        return result;
    }

    private static final Set<String> COMPARING =
            Set.of("compareTo", "compareToIgnoreCase", "compare", "indexOf", "lastIndexOf", "mismatch", "signum");

    /** Whether an object that the program gave says by this result whether it is right: yes or no, or how far it is from an argument. */
    private static boolean judges(String name, Object[] arguments, Object result) {
        boolean number = result instanceof Number || result instanceof Character;
        return result instanceof Boolean || COMPARING.contains(name) || (number && arguments.length > 0 && !positions(arguments));
    }

    private static boolean positions(Object[] arguments) {
        return Arrays.stream(arguments).allMatch(argument -> argument instanceof Integer);
    }

    /** Make an object of one of the program's classes. */
    public static StandIn.Handle construct(String owner, String descriptor, Object[] arguments) {
        if (session.exchange('n', null, owner, "", descriptor, arguments) instanceof Long id) {
            return new StandIn.Handle(id);
        }
        throw session.broken(new BadReply("the program's process answered a constructor with no object"));
    }

    /** The value of a static field. */
    public static Object field(String owner, String name) {
        return session.exchange('f', null, owner, name, "", new Object[0]);
    }

    /** The relay of the frames (call_relay.py) takes no longer one. */
    private static final int MOST_BYTES = 1 << 24;

    private static final class Session implements Wire.Handles {
        private final DataInputStream in;
        private final DataOutputStream out;
        private final ClassLoader loader;
        private final Map<Long, StandIn> objects = new HashMap<>();
        private Error verdict;
        // bytes that the program has given in all, and whether it has given a container or an object
        private long received;
        private boolean gave;

        Session(DataInputStream in, DataOutputStream out, ClassLoader loader) {
            this.in = in;
            this.out = out;
            this.loader = loader;
        }

        Object exchange(int operation, Object self, String owner, String name, String descriptor, Object[] arguments) {
            if (verdict != null) {
                throw verdict;
            }
            Wire wire = new Wire(this);
            DataInputStream reply;
            try {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                DataOutputStream call = new DataOutputStream(bytes);
                call.writeByte('C');
                call.writeByte(operation);
                wire.write(self, call);
                Frames.writeString(owner, call);
                Frames.writeString(name, call);
                Frames.writeString(descriptor, call);
                call.writeByte(arguments.length);
                for (Object argument : arguments) {
                    wire.write(argument, call);
                }
                if (bytes.size() > MOST_BYTES) {
                    throw broken(received > MOST_BYTES / 16
                            ? new BadReply("it gave the test a value that is too large to be given back")
                            : new CannotJudge("the test passes a value that is too large"));
                }
                Frames.writeFrame(bytes.toByteArray(), out);
                reply = Frames.readFrame(in);
            } catch (Wire.Untransportable e) {
                throw broken(gave
                        ? new BadReply("it gave the test what cannot be given back: " + e.getMessage())
                        : new CannotJudge("the test passes what it cannot: " + e.getMessage()));
            } catch (IOException e) {
                throw broken(new CannotJudge("no more connection: " + e.getMessage()));
            } catch (StackOverflowError e) {
                // a test has no such value of its own
                throw broken(new BadReply("it gave the test a value that is nested too deeply"));
            }
            if (reply == null) {
                throw broken(new CannotJudge("the program's process has ended"));
            }
            received += available(reply);
            Object result = result(wire, reply, owner + "." + name);
            gave |= operation == 'i' && result != null && !isScalar(result);
            return result;
        }

        private static boolean isScalar(Object value) {
            return value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof Character;
        }

        private static int available(DataInputStream frame) {
            try {
                return frame.available();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private Object result(Wire wire, DataInputStream reply, String what) {
            Throwable thrown;
            try {
                int status = reply.readUnsignedByte();
                if (status == 'X') {
                    throw broken(new BadReply(what + ": " + Frames.readString(reply)));
                }
                for (int changed = reply.readInt(); changed > 0; changed--) {
                    int number = reply.readInt();
                    wire.readContents(wire.known().get(number), reply);
                }
                if (status == 'R') {
                    return wire.read(reply);
                }
                if (status != 'T') {
                    throw new IOException("an answer of the kind " + status);
                }
                thrown = readThrown(reply);
            } catch (IOException | RuntimeException | StackOverflowError e) {
                throw broken(new BadReply(what + ": an answer that is no value: " + e.getMessage()));
            }
            throw Remote.<RuntimeException>sneaked(thrown);
        }

        private static Throwable readThrown(DataInputStream reply) throws IOException {
            int count = reply.readInt();
            String[] names = new String[Math.min(Math.max(count, 0), reply.available())];
            for (int i = 0; i < names.length; i++) {
                names[i] = Frames.readString(reply);
            }
            return exception(names, reply.readBoolean() ? Frames.readString(reply) : null);
        }

        private Error broken(Error error) {
            verdict = verdict == null ? error : verdict;
            return error;
        }

        /** The first of the classes that is of the standard library, never of this sandbox or of the program. */
        private static Throwable exception(String[] names, String message) {
            for (String name : names) {
                try {
                    Class<?> type = Class.forName(name, false, ClassLoader.getPlatformClassLoader());
                    if (name.startsWith("java.") && Throwable.class.isAssignableFrom(type)) {
                        Class<?> parameter = type == AssertionError.class ? Object.class : String.class;
                        return message == null
                                ? (Throwable) type.getConstructor().newInstance()
                                : (Throwable) type.getConstructor(parameter).newInstance(message);
                    }
                } catch (ReflectiveOperationException | LinkageError e) {
                    continue;
                }
            }
            return new RuntimeException(message);
        }

        @Override
        public boolean write(Object value, DataOutputStream out) throws IOException {
            if (!(value instanceof StandIn standIn)) {
                return false;
            }
            out.writeLong(standIn.id);
            return true;
        }

        @Override
        public Object read(DataInputStream reply) throws IOException {
            long id = reply.readLong();
            int count = reply.readInt();
            StandIn known = objects.get(id);
            String first = null;
            for (int i = 0; i < count; i++) {
                String name = Frames.readString(reply);
                first = first == null ? name : first;
                if (known == null) {
                    known = standIn(name, id);
                }
            }
            if (known == null) {
                throw new Wire.Untransportable("an object of class " + first + ", which the test cannot name");
            }
            known.given = true;
            return known;
        }

        private StandIn standIn(String name, long id) {
            try {
                Class<?> type = Class.forName(name, false, loader);
                if (StandIn.class.isAssignableFrom(type)) {
                    Constructor<?> constructor = type.getDeclaredConstructor(StandIn.Handle.class);
                    constructor.setAccessible(true);
                    return (StandIn) constructor.newInstance(new StandIn.Handle(id));
                }
            } catch (ReflectiveOperationException | LinkageError e) {
                return null;
            }
            return null;
        }

        @Override
        public Class<?> elementClass(String name) throws ClassNotFoundException {
            return Class.forName(name, false, loader);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneaked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
