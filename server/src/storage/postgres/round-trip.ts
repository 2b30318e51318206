/**
 * Several statements in one message to the server and one back. With `pg`'s own queries, each would be sent, flushed and
 * read separately, which costs both sides more than the few rows involved.
 */
import type pg from 'pg'
import type { StoredRow } from '../sql/table.ts'
import { clientTypes, translateError } from './connect.ts'
import { MessageWriter, type Parameter } from './message-writer.ts'

/** Prepared once per connection. Without a name it is for single use, and returns no rows. */
export interface Statement {
  readonly name: string
  readonly text: string
}

interface Sent {
  readonly statement: Statement
  readonly values: readonly Parameter[]
  readonly rows: StoredRow[]
}

const NO_ROWS: readonly StoredRow[] = []

/**
 * The statements of one round trip, in the order in which the server runs them. After a failure it runs none of the
 * others.
 */
export class RoundTrip {
  readonly statements: Sent[] = []

  /** Its rows are available once the round trip has been made. */
  add(statement: Statement, values: readonly Parameter[] = []): readonly StoredRow[] {
    const rows: StoredRow[] = []
    this.statements.push({ statement, values, rows })
    return rows
  }

  /** Rows of these ids; no query if there are none. */
  read(statement: Statement, ids: readonly string[]): readonly StoredRow[] {
    return ids.length === 0 ? NO_ROWS : this.add(statement, [{ kind: 'text', cells: ids }])
  }
}

/** Makes round trips; errors are the port's own. */
export interface RoundTripper {
  make(trip: RoundTrip): Promise<void>
}

export interface PreparedStatements {
  /** A plain statement that is run first. */
  readonly settings: string
  readonly reads: readonly Statement[]
  readonly writes: readonly Statement[]
}

/** The columns of each statement's rows. */
type Columns = ReadonlyMap<Statement, readonly Column[]>
interface Column {
  readonly name: string
  readonly parse: (text: string) => bigint | string
}

/** A connection with its prepared statements. Round trips are made one after the other. */
export class HotConnection implements RoundTripper {
  readonly #client: pg.ClientBase
  readonly #writer: MessageWriter
  readonly #columns: Columns

  private constructor(client: pg.ClientBase, writer: MessageWriter, columns: Columns) {
    this.#client = client
    this.#writer = writer
    this.#columns = columns
  }

  static async open(
    client: pg.ClientBase,
    { settings, reads, writes }: PreparedStatements,
  ): Promise<HotConnection> {
    const writer = new MessageWriter()
    for (const { name, text } of [...reads, ...writes]) writer.parse(name, text)
    for (const { name } of reads) writer.describe(name)
    writer.sync()
    const described: (readonly Column[])[] = []
    try {
      await client.query(settings)
      await submit(client, writer.take(), { describe: (columns) => described.push(columns) })
    } catch (error) {
      throw translateError(error)
    }
    return new HotConnection(
      client,
      writer,
      new Map(reads.map((statement, index) => [statement, described[index] ?? []])),
    )
  }

  async make({ statements }: RoundTrip): Promise<void> {
    this.#write(statements)
    const columns = this.#columns
    let at = 0
    try {
      await submit(this.#client, this.#writer.take(), {
        row: (fields) => {
          const sent = statements[at]
          if (sent !== undefined) sent.rows.push(rowOf(columns.get(sent.statement) ?? [], fields))
        },
        complete: () => {
          at += 1
        },
      })
    } catch (error) {
      throw translateError(error)
    }
  }

  #write(statements: readonly Sent[]): void {
    const writer = this.#writer
    try {
      for (const { statement, values } of statements) {
        if (statement.name === '') writer.parse('', statement.text)
        writer.run(statement.name, values)
      }
      writer.sync()
    } catch (error) {
      writer.clear()
      throw error
    }
  }
}

type Fields = readonly (string | null)[]

function rowOf(columns: readonly Column[], fields: Fields): StoredRow {
  const row: Record<string, bigint | string | null> = {}
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]
    const field = fields[index]
    if (column !== undefined) row[column.name] = typeof field === 'string' ? column.parse(field) : null
  }
  return row
}

/** Events of a round trip. */
interface Heard {
  readonly describe?: (columns: readonly Column[]) => void
  readonly row?: (fields: Fields) => void
  /** A statement has finished. */
  readonly complete?: () => void
}

function submit(client: pg.ClientBase, bytes: Uint8Array, heard: Heard): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(
      new Submission(bytes, heard, (error) => {
        if (error === null) resolve()
        else reject(error)
      }),
    )
  })
}

/** The interface that `pg` requires of a query that writes its own messages. */
class Submission implements pg.Submittable {
  /** `pg` wraps it in its own, which ends the time limit. */
  callback: (error: Error | null) => void
  readonly #bytes: Uint8Array
  readonly #heard: Heard

  constructor(bytes: Uint8Array, heard: Heard, callback: (error: Error | null) => void) {
    this.#bytes = bytes
    this.#heard = heard
    this.callback = callback
  }

  submit({ stream }: pg.Connection): void {
    // If the stream has ended, the connection notifies the waiting caller.
    if (stream.writable) stream.write(this.#bytes)
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#heard.describe?.(
      fields.map(({ name, dataTypeID }) => ({ name, parse: clientTypes.getTypeParser(dataTypeID) })),
    )
  }

  handleDataRow({ fields }: { fields: Fields }): void {
    this.#heard.row?.(fields)
  }

  handleCommandComplete(): void {
    this.#heard.complete?.()
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  handleError(error: Error): void {
    this.callback(error)
  }
}
