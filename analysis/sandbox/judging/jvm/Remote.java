package assay.sandbox;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Constructor;
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

    static synchronized void standsFor(long id, StandIn object) {
        session.objects.put(id, object);
    }

    /** Call a method; self is null for a static one. Threads of the test take turns, as the frames of their calls must. */
    public static synchronized Object call(Object self, String owner, String name, String descriptor, Object[] arguments) {
        StandIn answer = self instanceof StandIn object && object.given ? object : null;
        if (answer == null) {
            return session.certain(session.exchange('i', self, owner, name, descriptor, arguments, false), owner, name, descriptor);
        }
        answer.told |= tells(name, arguments);
        Object result = session.exchange('i', self, owner, name, descriptor, arguments, answer.told);
        if (!answer.told) {
            // an answer says yes or no of itself
            if (result instanceof Boolean || name.equals("signum")) {
                throw session.distrusted(owner, name);
            }
        } else if (result instanceof StandIn next) {
            next.told = true;
        } else if (!descriptor.endsWith(")V")) {
            throw session.distrusted(owner, name);
        }
        return result;
    }

    private static final Set<String> TAKE_POSITIONS = Set.of("get", "charAt", "codePointAt", "subList", "substring");

    /** Whether these arguments may tell an answer what it should be. */
    private static boolean tells(String name, Object[] arguments) {
        for (Object argument : arguments) {
            if (!(argument instanceof Integer && TAKE_POSITIONS.contains(name))) {
                return true;
            }
        }
        return false;
    }

    /** Make an object of one of the program's classes. */
    public static synchronized StandIn.Handle construct(String owner, String descriptor, Object[] arguments) {
        if (session.exchange('n', null, owner, "", descriptor, arguments, false) instanceof Long id) {
            return new StandIn.Handle(id);
        }
        throw session.broken(new BadReply("the program's process answered a constructor with no object"));
    }

    /** The value of a static field. */
    public static synchronized Object field(String owner, String name) {
        return session.exchange('f', null, owner, name, "", new Object[0], false);
    }

    /** The relay of the frames (call_relay.py) takes no longer one. */
    private static final int MOST_BYTES = 1 << 24;

    private static final class Session implements Wire.Handles {
        private final DataInputStream in;
        private final DataOutputStream out;
        private final ClassLoader loader;
        private final Map<Long, StandIn> objects = new HashMap<>();
        private volatile Error verdict;
        // whether the program has given any value, and whether it has given a container or an object
        private boolean gave;
        private boolean gaveObject;

        Session(DataInputStream in, DataOutputStream out, ClassLoader loader) {
            this.in = in;
            this.out = out;
            this.loader = loader;
        }

        /** told: whether self is an answer that knows what it should be, so that no value of it counts. */
        Object exchange(
                int operation, Object self, String owner, String name, String descriptor, Object[] arguments, boolean told) {
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
                    throw broken(gave
                            ? new BadReply("by what it gave, the test passes a value that is too large")
                            : new CannotJudge("the test passes a value that is too large"));
                }
                Frames.writeFrame(bytes.toByteArray(), out);
                reply = Frames.readFrame(in);
            } catch (Wire.Untransportable e) {
                throw broken(gaveObject
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
            // a constructor gives a value where it changes its arguments or throws
            gave |= operation != 'n' || arguments.length > 0;
            Object result = result(wire, reply, owner, name, told);
            gaveObject |= operation == 'i' && result != null && !isScalar(result);
            return result;
        }

        private static boolean isScalar(Object value) {
            return value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof Character;
        }

        /** The value, unless it is null where yes or no is asked: a test that looks for a no would take it for a yes. */
        private Object certain(Object value, String owner, String name, String descriptor) {
            if (value == null && descriptor.endsWith(")Ljava/lang/Boolean;")) {
                throw broken(new BadReply(owner + "." + name + " gave null, which is neither true nor false"));
            }
            return value;
        }

        private Error distrusted(String owner, String name) {
            return broken(new BadReply("the test needs " + name + "() of an object of the program's class " + owner
                    + ", on which the program's word does not count"));
        }

        private Object result(Wire wire, DataInputStream reply, String owner, String name, boolean told) {
            String what = owner + "." + name;
            Throwable thrown;
            try {
                int status = reply.readUnsignedByte();
                if (status == 'X') {
                    throw broken(new BadReply(what + ": " + Frames.readString(reply)));
                }
                for (int changed = Frames.readCount(reply); changed > 0; changed--) {
                    if (told) {
                        throw distrusted(owner, name);
                    }
                    int number = reply.readInt();
                    wire.readContents(wire.known().get(number), reply);
                }
                if (status != 'R' && status != 'T') {
                    throw new IOException("an answer of the kind " + status);
                }
                Object value = status == 'R' ? wire.read(reply) : null;
                thrown = status == 'R' ? null : readThrown(reply);
                if (reply.available() > 0) {
                    throw new IOException("more bytes than belong to it");
                }
                if (thrown == null) {
                    return value;
                }
            } catch (IOException | RuntimeException | StackOverflowError e) {
                throw broken(new BadReply(what + ": an answer that is no value: " + e.getMessage()));
            }
            throw Remote.<RuntimeException>sneaked(thrown);
        }

        private static Throwable readThrown(DataInputStream reply) throws IOException {
            String[] names = Frames.readStrings(reply);
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
            String[] names = Frames.readStrings(reply);
            StandIn known = objects.get(id);
            for (int i = 0; known == null && i < names.length; i++) {
                known = standIn(names[i], id);
            }
            if (known == null) {
                throw new Wire.Untransportable("an object of class " + names[0] + ", which the test cannot name");
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
