/** Turns of responses: bulk writes, and conversations read back along their links. */
import { type Kysely, sql, type Insertable, type RawBuilder } from 'kysely'
import { type ChainId, chainId, type KeyId, keyId, modelId } from '../../../core/ids.ts'
import type { LongText, SecretBox } from '../../secret-box.ts'
import type { NewTurn, StoredTurn, TurnContent, TurnLink, TurnStore } from '../../stores/turns.ts'
import type { SqlEngine } from '../engine.ts'
import { parseStored } from '../stored-json.ts'
import type { Schema } from '../schema.ts'
import type { TurnsTable } from '../schema/turns.ts'

export interface TurnStoreOptions {
  readonly engine: Pick<SqlEngine, 'reader' | 'writer'>
  readonly secrets: SecretBox
}

/** Ids per statement: both engines accept more, but slow down. */
const IDS_PER_STATEMENT = 500

/** Characters that are sealed in less than a millisecond. */
const LONG_TEXT = 262_144

export function createTurnStore({ engine, secrets }: TurnStoreOptions): TurnStore {
  const { reader, writer } = engine
  return {
    put: (turns) => putTurns(writer, turns, secrets),

    async extend(key, responseIds, expiresAt) {
      for (const ids of slices(responseIds)) {
        await writer
          .updateTable('turns')
          .set({ expires_at: expiresAt })
          .where('key_id', '=', key)
          .where('response_id', 'in', ids)
          .where('expires_at', '<', BigInt(expiresAt))
          .execute()
      }
    },

    find: (key, responseId, at) => findTurn(reader, { key, responseId, at, secrets }),

    lineage: (key, responseId, options) => readLineage(reader, { key, responseId, ...options }),

    readBodies: (key, responseIds) => readBodies(reader, { key, responseIds, secrets }),

    async remove(key, responseId) {
      const rows = await writer
        .deleteFrom('turns')
        .where('key_id', '=', key)
        .where('response_id', '=', responseId)
        .returning('response_id')
        .execute()
      return rows.length > 0
    },

    async expire({ at, bytesMax, limit }) {
      const expired = await removeOldest(writer, limit, sql`expires_at <= ${at}`)
      const { rows } = await sql<{ held: bigint | null }>`
        select cast(sum(bytes) as bigint) as held from turns where bytes > 0`.execute(reader)
      const held = Number(rows[0]?.held ?? 0)
      return held <= bytesMax ? expired : expired + (await removeOldest(writer, limit, sql`bytes > 0`))
    },
  }
}

async function putTurns(
  writer: Kysely<Schema>,
  turns: readonly NewTurn[],
  secrets: SecretBox,
): Promise<void> {
  if (turns.length === 0) return
  const rows: NewRow[] = []
  for (const turn of turns) rows.push(await rowOf(turn, secrets))
  await writer
    .insertInto('turns')
    .values(newestOf(rows))
    .onConflict((conflict) =>
      conflict.columns(['key_id', 'response_id']).doUpdateSet((row) => ({
        previous_id: row.ref('excluded.previous_id'),
        model_id: row.ref('excluded.model_id'),
        created_at: row.ref('excluded.created_at'),
        expires_at: row.ref('excluded.expires_at'),
        sealed: row.ref('excluded.sealed'),
        bytes: row.ref('excluded.bytes'),
        place: row.ref('excluded.place'),
        chain_id: row.ref('excluded.chain_id'),
      })),
    )
    .execute()
}

interface Wanted {
  readonly key: KeyId
  readonly secrets: SecretBox
}

async function findTurn(
  reader: Kysely<Schema>,
  { key, responseId, at, secrets }: Wanted & { readonly responseId: string; readonly at: number },
): Promise<StoredTurn | undefined> {
  const row = await reader
    .selectFrom('turns')
    .selectAll()
    .where('key_id', '=', key)
    .where('response_id', '=', responseId)
    .where('expires_at', '>', BigInt(at))
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    keyId: keyId(row.key_id),
    responseId: row.response_id,
    previousId: row.previous_id ?? undefined,
    modelId: modelId(row.model_id),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    content: await contentOf(row, secrets),
  }
}

async function readBodies(
  reader: Kysely<Schema>,
  { key, responseIds, secrets }: Wanted & { readonly responseIds: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>()
  for (const ids of slices(responseIds)) {
    const rows = await reader
      .selectFrom('turns')
      .select(['key_id', 'response_id', 'sealed'])
      .where('key_id', '=', key)
      .where('response_id', 'in', ids)
      .execute()
    for (const { response_id, sealed, key_id } of rows) {
      if (sealed !== null)
        bodies.set(response_id, await secrets.openInTurns(sealed, purposeOf(key_id, response_id)))
    }
  }
  return bodies
}

function removeOldest(writer: Kysely<Schema>, limit: number, which: ReturnType<typeof sql>): Promise<number> {
  return sql`
    delete from turns where (key_id, response_id) in (
      select key_id, response_id from turns where ${which} order by expires_at limit ${limit})
    returning response_id`
    .execute(writer)
    .then(({ rows }) => rows.length)
}

interface LineageRow {
  readonly response_id: string
  readonly previous_id: string | null
  readonly place: string | null
  readonly bytes: bigint
}

async function readLineage(
  reader: Kysely<Schema>,
  wanted: {
    readonly key: KeyId
    readonly responseId: string
    readonly at: number
    readonly limit: number
  },
): Promise<readonly TurnLink[]> {
  const { key, responseId, at, limit } = wanted
  // Clients cannot choose ids, so they cannot form a cycle, but the depth is limited anyway.
  const { rows } = await sql<LineageRow>`
    with recursive line (response_id, previous_id, place, bytes, depth) as (
      select response_id, previous_id, place, bytes, 1 from turns
        where key_id = ${key} and response_id = ${responseId} and expires_at > ${at}
      union all
      select turns.response_id, turns.previous_id, turns.place, turns.bytes, line.depth + 1
        from line join turns on turns.key_id = ${key} and turns.response_id = line.previous_id
        where turns.expires_at > ${at} and line.depth < ${limit})
    select response_id, previous_id, place, bytes from line order by depth`.execute(reader)
  return rows.map((row) => ({
    responseId: row.response_id,
    previousId: row.previous_id ?? undefined,
    place: row.place ?? undefined,
    bytes: Number(row.bytes),
  }))
}

interface NewRow extends Omit<Insertable<TurnsTable>, 'sealed'> {
  readonly sealed: string | RawBuilder<string> | null
}

async function rowOf(turn: NewTurn, secrets: SecretBox): Promise<NewRow> {
  const { content } = turn
  const kept = keptText(content)
  return {
    key_id: turn.keyId,
    response_id: turn.responseId,
    previous_id: turn.previousId ?? null,
    model_id: turn.modelId,
    created_at: turn.createdAt,
    expires_at: turn.expiresAt,
    sealed:
      kept === undefined ? null : await sealedText(kept, secrets, purposeOf(turn.keyId, turn.responseId)),
    bytes: kept === undefined ? 0 : bytesOf(kept),
    place: content.kind === 'upstream' ? content.place : null,
    chain_id: content.kind === 'upstream' ? BigInt(content.chainId) : null,
  }
}

/** A long one is passed to the engine as bytes: text would be copied piece by piece. */
async function sealedText(text: LongText, secrets: SecretBox, purpose: string) {
  if (typeof text === 'string' && text.length < LONG_TEXT) return secrets.seal(text, purpose)
  return sql<string>`cast(${await secrets.sealInTurns(text, purpose)} as text)`
}

function bytesOf(text: LongText): number {
  if (typeof text === 'string') return Buffer.byteLength(text)
  return text.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function keptText(content: NewTurn['content']): LongText | undefined {
  if (content.kind === 'kept') return content.body
  return content.background === undefined ? undefined : JSON.stringify(content.background)
}

/** A statement may write a row only once; the last one counts. */
function newestOf(rows: readonly NewRow[]): NewRow[] {
  return [...new Map(rows.map((row) => [`${row.key_id} ${row.response_id}`, row])).values()]
}

interface ContentRow {
  readonly key_id: string
  readonly response_id: string
  readonly sealed: string | null
  readonly place: string | null
  readonly chain_id: bigint | null
}

async function contentOf(row: ContentRow, secrets: SecretBox): Promise<TurnContent> {
  const kept =
    row.sealed === null
      ? undefined
      : await secrets.openInTurns(row.sealed, purposeOf(row.key_id, row.response_id))
  if (row.place === null && kept !== undefined) return { kind: 'kept', body: kept }
  const pin = { kind: 'upstream', place: row.place ?? '', chainId: chainOf(row.chain_id) } as const
  return kept === undefined ? pin : { ...pin, background: parseStored(kept) }
}

function chainOf(id: bigint | null): ChainId {
  return chainId(Number(id ?? 0))
}

function purposeOf(key: string, response: string): string {
  return `turn of ${key}: ${response}`
}

function* slices(ids: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < ids.length; at += IDS_PER_STATEMENT) yield ids.slice(at, at + IDS_PER_STATEMENT)
}
