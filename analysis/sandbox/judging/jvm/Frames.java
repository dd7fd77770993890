package assay.sandbox;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Frames of bytes on a stream, and the strings, bytes and class files inside them. */
final class Frames {
    private Frames() {}

    static int readCount(DataInputStream in) throws IOException {
        int count = in.readInt();
        // every item takes at least a byte, so a frame can't make its reader allocate more than a multiple of its own size
        if (count < 0 || count > in.available()) {
            throw new IOException("a length of " + count + " in a frame of fewer bytes");
        }
        return count;
    }

    static void writeString(String text, DataOutputStream out) throws IOException {
        out.writeInt(text.length());
        out.writeChars(text);
    }

    static String readString(DataInputStream in) throws IOException {
        char[] text = new char[readCount(in)];
        for (int i = 0; i < text.length; i++) {
            text[i] = in.readChar();
        }
        return new String(text).intern();
    }

    static void writeStrings(List<String> texts, DataOutputStream out) throws IOException {
        out.writeInt(texts.size());
        for (String text : texts) {
            writeString(text, out);
        }
    }

    static String[] readStrings(DataInputStream in) throws IOException {
        String[] texts = new String[readCount(in)];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = readString(in);
        }
        return texts;
    }

    static void writeBytes(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    static byte[] readBytes(DataInputStream in) throws IOException {
        byte[] bytes = new byte[readCount(in)];
        in.readFully(bytes);
        return bytes;
    }

    static Map<String, byte[]> readClasses(DataInputStream in) throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        for (int count = readCount(in); count > 0; count--) {
            classes.put(readString(in), readBytes(in));
        }
        return classes;
    }

    /** The next frame: four bytes of length, most significant first, and as many bytes; null at the end of the stream. */
    static DataInputStream readFrame(DataInputStream in) throws IOException {
        int length;
        try {
            length = in.readInt();
        } catch (EOFException e) {
            return null;
        }
        byte[] bytes = in.readNBytes(Math.max(length, 0));
        if (bytes.length != length) {
            throw new EOFException("the stream ends within a frame");
        }
        return new DataInputStream(new ByteArrayInputStream(bytes));
    }

    static void writeFrame(byte[] bytes, DataOutputStream out) throws IOException {
        writeBytes(bytes, out);
        out.flush();
    }
}
