package assay.sandbox;

/**
 * In the judge, an object of a class of the program's. Its methods call into the program's process; equality is identity, always: what a
 * program says of equality decides no verdict.
 */
public abstract class StandIn {
    final long id;

    /** Stands for the object that the handle names. */
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
