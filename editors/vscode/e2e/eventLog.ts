/** Reads the server's log of events, as anybody may while the server writes. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export interface Event {
  readonly number: number;
  readonly showing: string | null;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The events behind number `after`, oldest first. */
export function eventsAfter(file: string, after: number): Event[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('SELECT number, showing, kind, body FROM events WHERE number > ? ORDER BY number').all(after);
    return rows.map(({ number, showing, kind, body }) => ({
      number: Number(number),
      showing: showing === null ? null : String(showing),
      kind: String(kind),
      body: JSON.parse(String(body)) as Record<string, unknown>,
    }));
  } catch (error) {
    // Between the making of the file and that of its table.
    if (error instanceof Error && /no such table|database is locked/.test(error.message)) return [];
    throw error;
  } finally {
    database.close();
  }
}
