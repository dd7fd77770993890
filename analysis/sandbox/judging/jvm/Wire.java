package assay.sandbox;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Encodes values as tagged bytes, for one call and its reply. Decoding makes new objects of the standard library; no object of the
 * program's own classes is ever sent. Containers are numbered in the order in which they are first met, the same on both sides. So an
 * argument that comes back is the same object, and the changes that a call made in it are known.
 *
 * <p>Strings are interned on both sides, so that programs which compare a test's literals with == behave as in one process.
 */
final class Wire {
    /** A value that can't be sent; the message names its class. */
    static final class Untransportable extends RuntimeException {
        Untransportable(String message) {
            super(message);
        }
    }

    /** Objects of the program's own classes, which the other side knows by number. */
    interface Handles {
        /** Write the object, without a tag, if it is one; returns whether it was. */
        boolean write(Object value, DataOutputStream out) throws IOException;

        /** The object that `write` of the other side wrote. */
        Object read(DataInputStream in) throws IOException;

        /** The class of an array's elements, by its name. */
        Class<?> elementClass(String name) throws ClassNotFoundException;
    }

    private static final int NULL = 0;
    private static final int TRUE = 1;
    private static final int FALSE = 2;
    private static final int BYTE = 3;
    private static final int SHORT = 4;
    private static final int INT = 5;
    private static final int LONG = 6;
    private static final int FLOAT = 7;
    private static final int DOUBLE = 8;
    private static final int CHAR = 9;
    private static final int STRING = 10;
    private static final int BIG_INTEGER = 11;
    private static final int BIG_DECIMAL = 12;
    private static final int KNOWN = 13;
    private static final int HANDLE = 14;
    private static final int ARRAY = 15;
    private static final int BUILDER = 16;
    private static final int COLLECTION = 17;
    private static final int MAP = 18;
    private static final int OPTIONAL = 19;
    private static final int OPTIONAL_INT = 20;
    private static final int OPTIONAL_LONG = 21;
    private static final int OPTIONAL_DOUBLE = 22;
    private static final int ENTRY = 23;

    private static final Kind[] KINDS = Kind.values();
    private static final Object PENDING = new Object();

    private final Handles handles;
    private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
    private final List<Object> known = new ArrayList<>();

    Wire(Handles handles) {
        this.handles = handles;
    }

    /** Containers met so far, by their numbers. */
    List<Object> known() {
        return known;
    }

    private void learn(Object value) {
        numbers.putIfAbsent(value, known.size());
        known.add(value);
    }

    void write(Object value, DataOutputStream out) throws IOException {
        if (value == null) {
            out.writeByte(NULL);
        } else if (!writeScalar(value, out)) {
            Integer number = numbers.get(value);
            if (number != null) {
                out.writeByte(KNOWN);
                out.writeInt(number);
            } else {
                writeContainer(value, out);
            }
        }
    }

    private static boolean writeScalar(Object value, DataOutputStream out) throws IOException {
        if (value instanceof Boolean b) {
            out.writeByte(b ? TRUE : FALSE);
        } else if (value instanceof Integer i) {
            out.writeByte(INT);
            out.writeInt(i);
        } else if (value instanceof String s) {
            out.writeByte(STRING);
            Frames.writeString(s, out);
        } else if (value instanceof Double d) {
            out.writeByte(DOUBLE);
            out.writeLong(Double.doubleToRawLongBits(d));
        } else if (value instanceof Long l) {
            out.writeByte(LONG);
            out.writeLong(l);
        } else if (value instanceof Character c) {
            out.writeByte(CHAR);
            out.writeChar(c);
        } else if (value instanceof Float f) {
            out.writeByte(FLOAT);
            out.writeInt(Float.floatToRawIntBits(f));
        } else if (value instanceof Byte b) {
            out.writeByte(BYTE);
            out.writeByte(b);
        } else if (value instanceof Short s) {
            out.writeByte(SHORT);
            out.writeShort(s);
        } else if (value.getClass() == BigInteger.class) {
            out.writeByte(BIG_INTEGER);
            Frames.writeBytes(((BigInteger) value).toByteArray(), out);
        } else if (value.getClass() == BigDecimal.class) {
            out.writeByte(BIG_DECIMAL);
            Frames.writeBytes(((BigDecimal) value).unscaledValue().toByteArray(), out);
            out.writeInt(((BigDecimal) value).scale());
        } else {
            return false;
        }
        return true;
    }

    private void writeContainer(Object value, DataOutputStream out) throws IOException {
        if (value.getClass().isArray()) {
            learn(value);
            out.writeByte(ARRAY);
            Frames.writeString(value.getClass().getComponentType().getName(), out);
            writeContents(value, out);
        } else if (value instanceof StringBuilder || value instanceof StringBuffer) {
            learn(value);
            out.writeByte(BUILDER);
            out.writeBoolean(value instanceof StringBuffer);
            writeContents(value, out);
        } else if (value instanceof Collection<?> || value instanceof Map<?, ?>) {
            learn(value);
            out.writeByte(value instanceof Map<?, ?> ? MAP : COLLECTION);
            out.writeByte(Kind.of(value).ordinal());
            writeContents(value, out);
        } else if (value instanceof Optional<?> optional) {
            out.writeByte(OPTIONAL);
            write(optional.orElse(null), out);
        } else if (value instanceof OptionalInt optional) {
            out.writeByte(OPTIONAL_INT);
            write(optional.isPresent() ? optional.getAsInt() : null, out);
        } else if (value instanceof OptionalLong optional) {
            out.writeByte(OPTIONAL_LONG);
            write(optional.isPresent() ? optional.getAsLong() : null, out);
        } else if (value instanceof OptionalDouble optional) {
            out.writeByte(OPTIONAL_DOUBLE);
            write(optional.isPresent() ? optional.getAsDouble() : null, out);
        } else if (value instanceof Map.Entry<?, ?> entry) {
            out.writeByte(ENTRY);
            out.writeBoolean(value.getClass() == AbstractMap.SimpleEntry.class);
            write(entry.getKey(), out);
            write(entry.getValue(), out);
        } else {
            writeHandle(value, out);
        }
    }

    private void writeHandle(Object value, DataOutputStream out) throws IOException {
        out.writeByte(HANDLE);
        if (!handles.write(value, out)) {
            String name = value.getClass().getName();
            throw new Untransportable("an object of class " + name + " cannot travel between the program and its test");
        }
    }

    /** Write the contents of a numbered container. */
    void writeContents(Object value, DataOutputStream out) throws IOException {
        if (value instanceof CharSequence text) {
            Frames.writeString(text.toString(), out);
            return;
        }
        Object[] items = value instanceof Object[] array ? array : Kind.contents(value);
        out.writeInt(items.length);
        for (Object item : items) {
            write(item, out);
        }
    }

    Object read(DataInputStream in) throws IOException {
        int tag = in.readUnsignedByte();
        return switch (tag) {
            case NULL -> null;
            case TRUE -> Boolean.TRUE;
            case FALSE -> Boolean.FALSE;
            case BYTE -> in.readByte();
            case SHORT -> in.readShort();
            case INT -> in.readInt();
            case LONG -> in.readLong();
            case FLOAT -> Float.intBitsToFloat(in.readInt());
            case DOUBLE -> Double.longBitsToDouble(in.readLong());
            case CHAR -> in.readChar();
            case STRING -> Frames.readString(in);
            case BIG_INTEGER -> new BigInteger(Frames.readBytes(in));
            case BIG_DECIMAL -> new BigDecimal(new BigInteger(Frames.readBytes(in)), in.readInt());
            case KNOWN -> readKnown(in);
            case HANDLE -> handles.read(in);
            default -> readContainer(tag, in);
        };
    }

    private Object readKnown(DataInputStream in) throws IOException {
        int number = in.readInt();
        if (number < 0 || number >= known.size() || known.get(number) == PENDING) {
            throw new IOException("no container has the number " + number);
        }
        return known.get(number);
    }

    private Object readContainer(int tag, DataInputStream in) throws IOException {
        switch (tag) {
            case ARRAY:
                return readArray(in);
            case BUILDER:
                boolean buffer = in.readBoolean();
                String text = Frames.readString(in);
                Object builder = buffer ? new StringBuffer(text) : new StringBuilder(text);
                learn(builder);
                return builder;
            case COLLECTION, MAP:
                return readCollection(in);
            case OPTIONAL:
                return Optional.ofNullable(read(in));
            case OPTIONAL_INT:
                return read(in) instanceof Integer i ? OptionalInt.of(i) : OptionalInt.empty();
            case OPTIONAL_LONG:
                return read(in) instanceof Long l ? OptionalLong.of(l) : OptionalLong.empty();
            case OPTIONAL_DOUBLE:
                return read(in) instanceof Double d ? OptionalDouble.of(d) : OptionalDouble.empty();
            case ENTRY:
                boolean mutable = in.readBoolean();
                Object key = read(in);
                Object value = read(in);
                return mutable ? new AbstractMap.SimpleEntry<>(key, value) : new AbstractMap.SimpleImmutableEntry<>(key, value);
            default:
                throw new IOException("no kind of value has the tag " + tag);
        }
    }

    private Object readArray(DataInputStream in) throws IOException {
        String name = Frames.readString(in);
        int length = Frames.readCount(in);
        Object array;
        try {
            array = Array.newInstance(componentClass(name), length);
        } catch (ClassNotFoundException | IllegalArgumentException e) {
            throw new Untransportable("an array of " + name + " cannot travel between the program and its test");
        }
        learn(array);
        for (int i = 0; i < length; i++) {
            Array.set(array, i, read(in));
        }
        return array;
    }

    private Class<?> componentClass(String name) throws ClassNotFoundException {
        return switch (name) {
            case "int" -> int.class;
            case "long" -> long.class;
            case "double" -> double.class;
            case "float" -> float.class;
            case "char" -> char.class;
            case "byte" -> byte.class;
            case "short" -> short.class;
            case "boolean" -> boolean.class;
            default -> handles.elementClass(name);
        };
    }

    private Object readCollection(DataInputStream in) throws IOException {
        int ordinal = in.readUnsignedByte();
        if (ordinal >= KINDS.length) {
            throw new IOException("no kind of collection has the number " + ordinal);
        }
        Kind kind = KINDS[ordinal];
        Object made = kind.empty();
        int place = known.size();
        if (made == null) {
            known.add(PENDING);
        } else {
            learn(made);
        }
        Object[] items = readItems(in);
        if (made != null) {
            Kind.fill(made, items);
            return made;
        }
        Object fixed = kind.fixed(items);
        known.set(place, fixed);
        numbers.put(fixed, place);
        return fixed;
    }

    private Object[] readItems(DataInputStream in) throws IOException {
        Object[] items = new Object[Frames.readCount(in)];
        for (int i = 0; i < items.length; i++) {
            items[i] = read(in);
        }
        return items;
    }

    /** Fill a container with what `writeContents` of the other side wrote. */
    @SuppressWarnings("unchecked")
    void readContents(Object container, DataInputStream in) throws IOException {
        if (container instanceof StringBuilder builder) {
            builder.replace(0, builder.length(), Frames.readString(in));
            return;
        }
        if (container instanceof StringBuffer buffer) {
            buffer.replace(0, buffer.length(), Frames.readString(in));
            return;
        }
        Object[] items = readItems(in);
        if (container.getClass().isArray()) {
            if (items.length != Array.getLength(container)) {
                throw new IOException("an array of another length");
            }
            for (int i = 0; i < items.length; i++) {
                Array.set(container, i, items[i]);
            }
        } else if (container instanceof List<?> list && list.size() == items.length) {
            for (int i = 0; i < items.length; i++) {
                ((List<Object>) list).set(i, items[i]);
            }
        } else {
            if (container instanceof Map<?, ?> map) {
                map.clear();
            } else {
                ((Collection<?>) container).clear();
            }
            Kind.fill(container, items);
        }
    }
}
