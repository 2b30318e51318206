/**
 * Patches of video tasks, collected into shared transactions: thousands of polled tasks change hundreds of rows a
 * second, and a transaction costs several times as much as one more row in it. Patches at the end of this turn of the
 * event loop are written together; the next are collected meanwhile.
 */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { InstanceId } from '../../../core/ids.ts'
import type { VideoTaskPatch } from '../../../core/video/task.ts'
import { StorageUnavailable } from '../../failures/unavailable.ts'
import type { AnnouncedWrite, Written } from '../announced-write.ts'
import type { EngineName } from '../migrations.ts'
import type { Schema } from '../schema.ts'
import { videoCells } from './video-task-row.ts'
import type { Announcement } from '../../announcement.ts'

export interface HeldPatch {
  readonly id: string
  readonly patch: VideoTaskPatch
  readonly holder: InstanceId
}

/** Rows of one transaction: their locks are held until all are written. */
const BATCH_MAX = 64
/** Waiting tasks beyond this are refused: a poller handles far fewer at once. */
const QUEUE_MAX = 20_000

interface Waiting extends HeldPatch {
  readonly resolve: (held: boolean) => void
  readonly reject: (error: unknown) => void
}

export class VideoPatches {
  readonly #engine: EngineName
  readonly #write: AnnouncedWrite
  #queue: Waiting[] = []
  #running = false

  constructor(engine: EngineName, write: AnnouncedWrite) {
    this.#engine = engine
    this.#write = write
  }

  /** Whether the holder still held the task. */
  submit(patch: HeldPatch): Promise<boolean> {
    if (this.#queue.length >= QUEUE_MAX) {
      return Promise.reject(new StorageUnavailable('too many changes of video tasks wait for the database'))
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...patch, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#running) return
    this.#running = true
    setImmediate(() => {
      // `#settle` reports every failure to its caller, so it never rejects.
      const finished = () => {
        this.#running = false
        if (this.#queue.length > 0) this.#schedule()
      }
      this.#settle(this.#take()).then(finished, finished)
    })
  }

  /** A task is in a batch once: its second patch is written after the first. */
  #take(): readonly Waiting[] {
    const batch = new Map<string, Waiting>()
    const left: Waiting[] = []
    for (const waiting of this.#queue) {
      if (batch.size < BATCH_MAX && !batch.has(waiting.id)) batch.set(waiting.id, waiting)
      else left.push(waiting)
    }
    this.#queue = left
    return [...batch.values()]
  }

  /** One that cannot be written must not fail the others of its batch, so they are written separately. */
  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const held = await this.#write((transaction) => this.#patch(transaction, batch))
      for (const { id, resolve } of batch) resolve(held.has(id))
    } catch (error) {
      if (batch.length === 1 || error instanceof StorageUnavailable) {
        for (const { reject } of batch) reject(error)
        return
      }
      for (const waiting of batch) await this.#settle([waiting])
    }
  }

  async #patch(
    transaction: Transaction<Schema>,
    batch: readonly HeldPatch[],
  ): Promise<Written<ReadonlySet<string>>> {
    const rows = await (this.#engine === 'postgres'
      ? updateAtOnce(transaction, batch)
      : updateInOrder(transaction, batch))
    const held = new Set(rows.map(({ id }) => id))
    const changes = batch
      .filter(({ id, patch }) => held.has(id) && isSeen(patch))
      .map(({ id }): Announcement => ({ kind: 'video', id }))
    return { value: held, changes }
  }
}

interface Updated {
  readonly id: string
}

/** One statement, because each one would cost a round trip. */
async function updateAtOnce(
  transaction: Transaction<Schema>,
  batch: readonly HeldPatch[],
): Promise<readonly Updated[]> {
  const parts = batch.map((one, index) => sql`${sql.raw(`part_${index}`)} as (${updateOf(one)})`)
  const held = batch.map((_, index) => sql`select id from ${sql.raw(`part_${index}`)}`)
  const { rows } = await sql<Updated>`with ${sql.join(parts)} ${sql.join(held, sql` union all `)}`.execute(
    transaction,
  )
  return rows
}

/**
 * SQLite has no data-modifying `with`; its thread runs the statements one after the other without a round trip in
 * between.
 */
async function updateInOrder(
  transaction: Transaction<Schema>,
  batch: readonly HeldPatch[],
): Promise<readonly Updated[]> {
  const answers = await Promise.all(batch.map((one) => updateOf(one).execute(transaction)))
  return answers.flatMap(({ rows }) => rows)
}

function updateOf({ id, patch, holder }: HeldPatch): RawBuilder<Updated> {
  const cells = videoCells(patch)
  // An empty patch still answers whether the lease is held.
  const changes =
    cells.length === 0 ? [sql`id = id`] : cells.map(([column, cell]) => sql`${sql.ref(column)} = ${cell}`)
  return sql<Updated>`
    update video_tasks set ${sql.join(changes)}
    where id = ${id} and lease_instance = ${holder} and phase <> 'ended' returning id`
}

/** Waiting POSTs and lists show these fields; polls, leases and the vendor's last answer are not visible to clients. */
const SEEN: readonly (keyof VideoTaskPatch)[] = [
  'status',
  'phase',
  'progress',
  'completedAt',
  'expiresAt',
  'seconds',
  'size',
  'url',
  'blob',
  'error',
]

function isSeen(patch: VideoTaskPatch): boolean {
  return SEEN.some((name) => name in patch)
}
