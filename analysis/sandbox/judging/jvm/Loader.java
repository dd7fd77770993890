package assay.sandbox;

import java.util.Map;

/** Loads classes from their bytes, each once. */
final class Loader extends ClassLoader {
    private final Map<String, byte[]> classes;

    Loader(ClassLoader parent, Map<String, byte[]> classes) {
        super(parent);
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
