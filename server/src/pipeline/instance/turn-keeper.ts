/**
 * Stores responses: new ones are written a few milliseconds later, many at once, so that no call waits; until then they
 * are read from here. A conversation is read back turn by turn.
 */
import { responseIdOf, writeTurn } from '../../core/protocols/responses/answer/stored-turn.ts'
import type { JsonValue } from '../../core/json.ts'
import type { KeyId } from '../../core/ids.ts'
import type { Storage } from '../../storage/storage.ts'
import type { StoredTurn, TurnContent, TurnLink } from '../../storage/stores/turns.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'

/** The platform's retention (docs/decisions/0007-kept-responses.md), counted from the last use. */
export const TURN_LIFE_MS = 24 * 3_600_000
/** A turn whose request is larger is not kept; its answer says `store: false`. */
export const TURN_BYTES_MAX = 16 * 1024 * 1024
/** Limit for one conversation read back; longer ones have to be sent by the client. */
const CONVERSATION_BYTES_MAX = 64 * 1024 * 1024
const CONVERSATION_TURNS_MAX = 2_000
/** Limit for bytes waiting to be written; beyond it a turn is lost rather than the process. */
const PENDING_BYTES_MAX = 128 * 1024 * 1024
const BATCH_MAX = 64
const BATCH_WAIT_MS = 5
const WRITE_TRIES_MAX = 3
/** Another instance may still be writing a response that a fast client requests already. */
const MISS_WAITS_MS: readonly number[] = [50, 250]

export interface NewTurn {
  readonly keyId: KeyId
  readonly modelId: StoredTurn['modelId']
  readonly previousId: string | undefined
  /** Everything it continues, so that a conversation in use is kept as a whole. */
  readonly history: readonly string[]
  readonly at: number
  readonly content: NewContent
}

export type NewContent =
  | {
      readonly kind: 'kept'
      readonly callId: string
      /** The input items, or their array as JSON text. */
      readonly input: readonly JsonValue[] | string
      readonly responseJson: string
      /** Size of the request, which is about that of the input. */
      readonly requestBytes: number
    }
  | (Extract<TurnContent, { kind: 'upstream' }> & { readonly responseId: string })

/** The conversation that a request continues. */
export type Conversation =
  | { readonly kind: 'unknown'; readonly missing: string }
  | { readonly kind: 'too-long' }
  | {
      readonly kind: 'upstream'
      readonly place: string
      readonly ids: readonly string[]
      /** The newest response is, or was, made in the background. */
      readonly background: boolean
    }
  /** Bodies of its turns, oldest first. */
  | { readonly kind: 'kept'; readonly ids: readonly string[]; readonly bodies: readonly string[] }

export interface KeptAnswer {
  readonly responseId: string
  readonly body: string
}

export interface TurnKeeper {
  keep(turn: NewTurn): void
  find(key: KeyId, responseId: string, at: number): Promise<StoredTurn | undefined>
  conversation(key: KeyId, responseId: string, at: number): Promise<Conversation>
  /** The requested answers that are kept here, in the order requested; 'too-long': more than can be read at once. */
  answers(key: KeyId, responseIds: readonly string[], at: number): Promise<readonly KeptAnswer[] | 'too-long'>
  remove(key: KeyId, responseId: string): Promise<boolean>
  /** Writes what is waiting. */
  close(): void
}

export function createTurnKeeper(
  storage: Pick<Storage, 'turns'>,
  { log, background }: Pick<Telemetry, 'log' | 'background'>,
): TurnKeeper {
  return new WaitingTurns(storage, { log, background })
}

interface Waiting {
  readonly turn: StoredTurn
  readonly history: readonly string[]
  readonly bytes: number
}

class WaitingTurns implements TurnKeeper {
  readonly #storage: Pick<Storage, 'turns'>
  readonly #telemetry: Pick<Telemetry, 'log' | 'background'>
  /** Turns not in the store yet, by key and response id. */
  readonly #waiting = new Map<string, Waiting>()
  #queue: Waiting[] = []
  readonly #writing = new Set<Promise<void>>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(storage: Pick<Storage, 'turns'>, telemetry: Pick<Telemetry, 'log' | 'background'>) {
    this.#storage = storage
    this.#telemetry = telemetry
  }

  keep(turn: NewTurn): void {
    const waiting = waitingOf(turn)
    if (this.#bytes + waiting.bytes > PENDING_BYTES_MAX) {
      this.#telemetry.log.warn({ responseId: waiting.turn.responseId }, 'a response could not be kept')
      return
    }
    this.#bytes += waiting.bytes
    this.#waiting.set(nameOf(turn.keyId, waiting.turn.responseId), waiting)
    this.#queue.push(waiting)
    if (this.#queue.length >= BATCH_MAX) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), BATCH_WAIT_MS)
  }

  async find(key: KeyId, responseId: string, at: number): Promise<StoredTurn | undefined> {
    const look = async (): Promise<StoredTurn | undefined> =>
      this.#waiting.get(nameOf(key, responseId))?.turn ??
      (await this.#storage.turns.find(key, responseId, at))
    return patiently(look, (found) => found !== undefined)
  }

  async conversation(key: KeyId, responseId: string, at: number): Promise<Conversation> {
    const look = (): Promise<readonly TurnLink[]> => this.#lineage(key, responseId, at)
    const links = await patiently(look, (found) => found.length > 0)
    const newest = links[0]
    if (newest === undefined) return { kind: 'unknown', missing: responseId }
    const ids = links.map((link) => link.responseId)
    if (newest.place !== undefined) {
      return { kind: 'upstream', place: newest.place, ids, background: newest.bytes > 0 }
    }
    const bytes = links.reduce((sum, link) => sum + link.bytes, 0)
    if (links.length > CONVERSATION_TURNS_MAX || bytes > CONVERSATION_BYTES_MAX) return { kind: 'too-long' }
    const missing = links.at(-1)?.previousId
    if (missing !== undefined) return { kind: 'unknown', missing }
    return this.#bodies(key, links.toReversed())
  }

  async answers(
    key: KeyId,
    responseIds: readonly string[],
    at: number,
  ): Promise<readonly KeptAnswer[] | 'too-long'> {
    const found = new Map<string, KeptAnswer>()
    const look = async (): Promise<number> => {
      const missing = responseIds.filter((id) => !found.has(id))
      for (
        let next = 0;
        next < missing.length && charactersOf(found) <= CONVERSATION_BYTES_MAX;
        next += TOGETHER
      )
        for (const answer of await this.#answers(key, missing.slice(next, next + TOGETHER), at))
          found.set(answer.responseId, answer)
      return charactersOf(found)
    }
    const characters = await patiently(
      look,
      (read) => read > CONVERSATION_BYTES_MAX || found.size === responseIds.length,
    )
    return characters > CONVERSATION_BYTES_MAX ? 'too-long' : [...found.values()]
  }

  async #answers(key: KeyId, responseIds: readonly string[], at: number): Promise<readonly KeptAnswer[]> {
    const turns = await Promise.all(
      responseIds.map(
        async (id) =>
          this.#waiting.get(nameOf(key, id))?.turn ?? (await this.#storage.turns.find(key, id, at)),
      ),
    )
    return turns.flatMap((turn) =>
      turn?.content.kind === 'kept' ? [{ responseId: turn.responseId, body: turn.content.body }] : [],
    )
  }

  async remove(key: KeyId, responseId: string): Promise<boolean> {
    // A turn that is being written would arrive after the removal.
    if (this.#waiting.has(nameOf(key, responseId))) {
      this.#flush()
      await Promise.allSettled(this.#writing)
    }
    return this.#storage.turns.remove(key, responseId)
  }

  close(): void {
    this.#flush()
  }

  /** Turns waiting to be written are newer than stored ones. */
  async #lineage(key: KeyId, responseId: string, at: number): Promise<readonly TurnLink[]> {
    const links: TurnLink[] = []
    let next: string | undefined = responseId
    while (next !== undefined && links.length <= CONVERSATION_TURNS_MAX) {
      const waiting = this.#waiting.get(nameOf(key, next))
      if (waiting === undefined) break
      links.push(linkOf(waiting))
      next = waiting.turn.previousId
    }
    if (next === undefined || links.length > CONVERSATION_TURNS_MAX) return links
    const limit = CONVERSATION_TURNS_MAX + 1 - links.length
    return [...links, ...(await this.#storage.turns.lineage(key, next, { at, limit }))]
  }

  async #bodies(key: KeyId, links: readonly TurnLink[]): Promise<Conversation> {
    const found = new Map<string, string>()
    for (const { responseId: id } of links) {
      const content = this.#waiting.get(nameOf(key, id))?.turn.content
      if (content?.kind === 'kept') found.set(id, content.body)
    }
    const stored = links.filter(({ responseId }) => !found.has(responseId))
    for (const group of groupsBySize(stored, MOVED_BYTES_MAX)) {
      const ids = group.map(({ responseId }) => responseId)
      for (const [id, body] of await this.#storage.turns.readBodies(key, ids)) found.set(id, body)
    }
    const ids = links.map(({ responseId }) => responseId)
    const bodies: string[] = []
    for (const id of ids) {
      const body = found.get(id)
      if (body === undefined) return { kind: 'unknown', missing: id }
      bodies.push(body)
    }
    return { kind: 'kept', ids, bodies }
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#queue
    if (batch.length === 0) return
    this.#queue = []
    const writing = this.#write(batch).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
    this.#telemetry.background.track(writing, 'keep responses')
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      for (const group of groupsBySize(batch, MOVED_BYTES_MAX)) await this.#put(group)
      for (const { turn, history } of batch) {
        if (history.length > 0) await this.#storage.turns.extend(turn.keyId, history, turn.expiresAt)
      }
    } finally {
      for (const waiting of batch) {
        this.#bytes -= waiting.bytes
        const name = nameOf(waiting.turn.keyId, waiting.turn.responseId)
        if (this.#waiting.get(name) === waiting) this.#waiting.delete(name)
      }
    }
  }

  async #put(batch: readonly Waiting[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#storage.turns.put(batch.map(({ turn }) => turn))
        return
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || tries === WRITE_TRIES_MAX) throw error
        await wait(RETRY_WAIT_MS)
      }
    }
  }
}

/** Limit for turns sent to or from the store in one message, which is copied; a larger turn is sent alone. */
const MOVED_BYTES_MAX = 8 * 1024 * 1024

/** Groups items in order, up to that size each, at least one per group. */
export function groupsBySize<Item extends { readonly bytes: number }>(
  items: readonly Item[],
  bytesMax: number,
): readonly (readonly Item[])[] {
  const groups: Item[][] = []
  let left = 0
  for (const item of items) {
    const last = groups.at(-1)
    left -= item.bytes
    if (last !== undefined && left >= 0) last.push(item)
    else {
      groups.push([item])
      left = bytesMax - item.bytes
    }
  }
  return groups
}

/** Answers read at once: each may be as large as a stored turn. */
const TOGETHER = 4

function charactersOf(found: ReadonlyMap<string, KeptAnswer>): number {
  let characters = 0
  for (const { body } of found.values()) characters += body.length
  return characters
}

const RETRY_WAIT_MS = 1_000

function waitingOf({ keyId, modelId, previousId, history, at, content }: NewTurn): Waiting {
  const stored = { keyId, modelId, previousId, createdAt: at, expiresAt: at + TURN_LIFE_MS }
  if (content.kind === 'upstream') {
    const { responseId, ...pin } = content
    return { turn: { ...stored, responseId, content: pin }, history, bytes: PIN_BYTES }
  }
  const { callId, input, responseJson, requestBytes } = content
  return {
    turn: { ...stored, responseId: responseIdOf(callId), content: new LateBody(input, responseJson) },
    history,
    bytes: requestBytes + responseJson.length,
  }
}

/** Approximate memory of a pin. */
const PIN_BYTES = 300

/** A kept body is serialised when it is first needed, after the call has ended. */
class LateBody {
  readonly kind = 'kept'
  readonly #input: readonly JsonValue[] | string
  readonly #responseJson: string
  #written: string | undefined

  constructor(input: readonly JsonValue[] | string, responseJson: string) {
    this.#input = input
    this.#responseJson = responseJson
  }

  get body(): string {
    this.#written ??= writeTurn(this.#input, this.#responseJson)
    return this.#written
  }
}

function linkOf({ turn, bytes }: Waiting): TurnLink {
  const { responseId, previousId, content } = turn
  return {
    responseId,
    previousId,
    place: content.kind === 'upstream' ? content.place : undefined,
    bytes: content.kind === 'kept' ? bytes : 0,
  }
}

function nameOf(key: KeyId, responseId: string): string {
  return `${key} ${responseId}`
}

async function patiently<Found>(
  look: () => Promise<Found>,
  isThere: (found: Found) => boolean,
): Promise<Found> {
  let found = await look()
  for (const waitMs of MISS_WAITS_MS) {
    if (isThere(found)) return found
    await wait(waitMs)
    found = await look()
  }
  return found
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
