package assay.sandbox;

import java.lang.reflect.Array;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.function.Supplier;

/** Kinds of collections and maps, each with the class that represents it. A fixed or immutable list stays so. */
enum Kind {
    ARRAY_LIST(ArrayList::new), LINKED_LIST(LinkedList::new), VECTOR(Vector::new), STACK(Stack::new),
    FIXED_LIST(null), LIST_OF(null), UNMODIFIABLE_LIST(null),
    HASH_SET(HashSet::new), LINKED_HASH_SET(LinkedHashSet::new), TREE_SET(TreeSet::new), UNMODIFIABLE_SET(null),
    DEQUE(ArrayDeque::new), PRIORITY_QUEUE(PriorityQueue::new),
    HASH_MAP(HashMap::new), LINKED_HASH_MAP(LinkedHashMap::new), TREE_MAP(TreeMap::new), UNMODIFIABLE_MAP(null);

    private static final List<String> UNMODIFIABLE = List.of("Unmodifiable", "Empty", "Singleton", "Copies");

    private final Supplier<Object> empty;

    Kind(Supplier<Object> empty) {
        this.empty = empty;
    }

    static Kind of(Object value) {
        String name = value.getClass().getName();
        if (value instanceof List<?>) {
            return ofList((List<?>) value, name);
        }
        if (value instanceof SortedSet<?> set) {
            return set.comparator() == null ? TREE_SET : LINKED_HASH_SET;
        }
        if (value instanceof SortedMap<?, ?> map) {
            return map.comparator() == null ? TREE_MAP : LINKED_HASH_MAP;
        }
        boolean immutable = name.startsWith("java.util.ImmutableCollections$") || unmodifiable(name);
        if (value instanceof Set<?>) {
            return immutable ? UNMODIFIABLE_SET : value.getClass() == HashSet.class ? HASH_SET : LINKED_HASH_SET;
        }
        if (value instanceof Map<?, ?>) {
            return immutable ? UNMODIFIABLE_MAP : value.getClass() == HashMap.class ? HASH_MAP : LINKED_HASH_MAP;
        }
        if (value instanceof PriorityQueue<?> queue) {
            if (queue.comparator() != null) {
                throw new Wire.Untransportable("a PriorityQueue with a comparator cannot travel between the program and its test");
            }
            return PRIORITY_QUEUE;
        }
        return value instanceof ArrayDeque<?> ? DEQUE : ARRAY_LIST;
    }

    private static Kind ofList(List<?> value, String name) {
        boolean immutable = name.startsWith("java.util.ImmutableCollections$");
        return switch (name) {
            case "java.util.LinkedList" -> LINKED_LIST;
            case "java.util.Vector" -> VECTOR;
            case "java.util.Stack" -> STACK;
            case "java.util.Arrays$ArrayList" -> FIXED_LIST;
            default -> immutable && !Arrays.asList(value.toArray()).contains(null) ? LIST_OF
                    : immutable || unmodifiable(name) ? UNMODIFIABLE_LIST : ARRAY_LIST;
        };
    }

    private static boolean unmodifiable(String name) {
        return UNMODIFIABLE.stream().anyMatch(start -> name.startsWith("java.util.Collections$" + start));
    }

    /** A new empty container of the kind; null for a kind that is made with its contents. */
    Object empty() {
        return empty == null ? null : empty.get();
    }

    Object fixed(Object[] items) {
        return switch (this) {
            case FIXED_LIST -> Arrays.asList(items);
            case LIST_OF -> List.of(items);
            case UNMODIFIABLE_LIST -> Collections.unmodifiableList(new ArrayList<>(Arrays.asList(items)));
            case UNMODIFIABLE_SET -> Collections.unmodifiableSet(new LinkedHashSet<>(Arrays.asList(items)));
            default -> {
                Map<Object, Object> map = new LinkedHashMap<>();
                fill(map, items);
                yield Collections.unmodifiableMap(map);
            }
        };
    }

    /** The items of a container, keys and values of a map in turn; of a StringBuilder its text. */
    static Object[] contents(Object value) {
        if (value instanceof Map<?, ?> map) {
            List<Object> items = new ArrayList<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                items.add(entry.getKey());
                items.add(entry.getValue());
            }
            return items.toArray();
        }
        if (value instanceof Collection<?> collection) {
            return collection.toArray();
        }
        if (value instanceof CharSequence text) {
            return new Object[] {text.toString()};
        }
        Object[] items = new Object[Array.getLength(value)];
        for (int i = 0; i < items.length; i++) {
            items[i] = Array.get(value, i);
        }
        return items;
    }

    @SuppressWarnings("unchecked")
    static void fill(Object container, Object[] items) {
        if (container instanceof Map<?, ?>) {
            Map<Object, Object> map = (Map<Object, Object>) container;
            for (int i = 0; i + 1 < items.length; i += 2) {
                map.put(items[i], items[i + 1]);
            }
        } else {
            ((Collection<Object>) container).addAll(Arrays.asList(items));
        }
    }
}
