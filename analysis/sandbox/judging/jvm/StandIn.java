package assay.sandbox;

/**
 * In the judge, an object of one of the program's classes. Its methods call into the program's process. Equality is always identity, since
 * the program must not decide the verdict by its own equality.
 */
public abstract class StandIn {
    final long id;

    /** Whether the program has given it to the test, which may hold it for an answer then. */
    boolean given;

    /** Whether it is an answer that may know what it should be: any value that it gives from now on may be no more than an echo of that. */
    boolean told;

    /** Stands for the object with this handle. */
    protected StandIn(Handle handle) {
        this.id = handle.id;
        Remote.standsFor(id, this);
    }

    /** The number of an object in the program's process. */
    public static final class Handle {
        final long id;

        Handle(long id) {
            this.id = id;
        }
    }
}
