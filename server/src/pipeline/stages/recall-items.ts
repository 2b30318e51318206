/**
 * `item_reference`: references are replaced by the items of answers kept here, before anything is decided about the call.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import type { ScannedRequest } from '../../core/passthrough/requests/scanned-request.ts'
import { type Edit, spliceChunks } from '../../core/passthrough/splice.ts'
import { responseIdOfItem } from '../../core/protocols/responses/answer/stored-turn.ts'
import { advance, type Past, type ReceivedBody, type ReceivedCall } from '../call.ts'
import { findItems } from '../lanes/threads/read-past.ts'
import { sharedText } from '../lanes/threads/shared-text.ts'
import type { ItemsFound } from '../lanes/threads/work.ts'
import type { Pipeline } from '../context.ts'

/** Limit for the items that one request may name: that of a continued conversation. */
const ITEMS_BYTES_MAX = 64 * 1024 * 1024
/** Reading and writing this much takes about 2 ms. */
const NEAR_CHARACTERS_MAX = 131_072
/** Scanned in one go; a millisecond or so. */
const SCANNED_BYTES_MAX = 262_144
const NO_ITEMS = Buffer.from('[]')

/**
 * The call with the items it references, if they belong to this key and are stored here. Other references are left
 * unchanged: an upstream of the same protocol may know them, and background answers are made by such upstreams only.
 */
export async function recallItems(
  pipeline: Pick<Pipeline, 'turns' | 'conversions'>,
  call: ReceivedCall,
): Promise<ReceivedCall> {
  const { references, background } = call.scan
  if (references.length === 0 || background) return call
  const responseIds = new Set(references.flatMap(({ id }) => responseIdOfItem(id) ?? []))
  if (responseIds.size === 0) return call
  const answers = await pipeline.turns.answers(call.key.id, [...responseIds], call.at)
  if (answers === 'too-long') throw tooLong()
  const ids = [...new Set(references.map(({ id }) => id))]
  const texts = answers.map(({ body }) => body)
  const { found } = await readItems(pipeline, call, { texts, ids })
  const edits = references.flatMap(({ id, start, end }): readonly Edit[] => {
    const replacement = found.get(id)
    return replacement === undefined ? [] : [{ start, end, replacement }]
  })
  if (edits.length === 0) return call
  // Upstreams do not have what is stored here, so the call is converted like one that continues a stored conversation.
  const past: Past = { kind: 'kept', ids: answers.map(({ responseId }) => responseId), bytes: NO_ITEMS }
  return { ...(await edited(call, edits)), past }
}

async function readItems(
  pipeline: Pick<Pipeline, 'conversions'>,
  call: ReceivedCall,
  { texts, ids }: { readonly texts: readonly string[]; readonly ids: readonly string[] },
): Promise<ItemsFound> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters <= NEAR_CHARACTERS_MAX) return findItems({ kind: 'items', bodies: texts, ids })
  const bodies: Uint8Array[] = []
  for (const text of texts) bodies.push(await sharedText(text))
  const found = await pipeline.conversions.run({ kind: 'items', bodies, ids }, { accountId: call.account.id })
  if (found.kind !== 'items') throw new Error(`kept items were read as ${found.kind}`)
  return found
}

/** The same call with another body, which is scanned again. */
async function edited(call: ReceivedCall, edits: readonly Edit[]): Promise<ReceivedCall> {
  const growth = edits.reduce(
    (sum, { start, end, replacement }) => sum + replacement.length - (end - start),
    0,
  )
  if (growth > ITEMS_BYTES_MAX) throw tooLong()
  const { body } = call
  body.hold(Math.max(0, growth))
  const { chunks, length } = spliceChunks(body.chunks, edits)
  const scan = await scanAgain(chunks)
  const spliced: ReceivedBody = {
    chunks,
    length,
    memory: body.memory,
    memo: {},
    hold: (bytes) => body.hold(bytes),
    release: () => body.release(),
  }
  return advance(call, { stage: 'received', body: spliced, scan })
}

/** Lets other work run in between. */
async function scanAgain(chunks: readonly Uint8Array[]): Promise<ScannedRequest> {
  const scanner = createRequestScanner('responses')
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SCANNED_BYTES_MAX) {
      scanner.push(chunk.subarray(at, at + SCANNED_BYTES_MAX))
      if (chunk.length > SCANNED_BYTES_MAX) await turn()
    }
  }
  const scan = scanner.end()
  if (scan.kind === 'refused') throw new Error(`a body with its items cannot be read: ${scan.message}`)
  return scan
}

function tooLong(): GatewayError {
  return new GatewayError(40000, {
    message: 'input: the referenced items are too long together; send fewer',
    details: { param: 'input' },
  })
}
