/** The stored files that rows name; a database older than these tables has none. */
import { type Kysely, sql } from 'kysely'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import type { Schema } from '../sql/schema.ts'
import { parseStored } from '../sql/stored-json.ts'

export async function blobKeys(
  database: Kysely<Schema>,
  tables: readonly string[],
): Promise<readonly string[]> {
  const videos = tables.includes('video_tasks') ? await ofVideos(database) : []
  const documents = tables.includes('verification_requests') ? await ofRequests(database) : []
  return [...new Set([...videos, ...documents])]
}

async function ofVideos(database: Kysely<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ blob: string }>`
    select blob from video_tasks where blob is not null order by id`.execute(database)
  return rows.map(({ blob }) => blob)
}

async function ofRequests(database: Kysely<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ documents: string }>`
    select documents from verification_requests order by id`.execute(database)
  return rows.flatMap(({ documents }) => keysIn(parseStored<JsonValue>(documents)))
}

function keysIn(documents: JsonValue): readonly string[] {
  if (!Array.isArray(documents)) return []
  return documents.flatMap((one: JsonValue) =>
    isJsonObject(one) && typeof one['blobKey'] === 'string' ? [one['blobKey']] : [],
  )
}
