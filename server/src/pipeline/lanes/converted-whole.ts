/** A whole answer of another protocol: converted once it is complete, on this thread or in another. */
import { cutResponse } from '../../core/canonical/stop-sequences.ts'
import { isJsonObject } from '../../core/json.ts'
import { type BodyTap, createBodyTap } from '../../core/passthrough/body-tap.ts'
import { parseJson } from '../attempt/classify.ts'
import { TURN_BYTES_MAX } from '../instance/turn-keeper.ts'
import type { Conversion } from './conversion.ts'
import type { KeptAnswer, LaneMeter, WholeEnd, WholeLane } from './lane.ts'
import { answerText, countImages } from './threads/answer-text.ts'
import { sharedBytes } from './threads/shared-bytes.ts'

/** Limit for a whole answer that has to be parsed; no model writes this much at once. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024

/** Parsing and encoding this much takes a few milliseconds. */
const NEAR_ANSWER_BYTES_MAX = 131_072

/** Reading this much takes a few milliseconds. */
const TAPPED_AT_ONCE = 4 * 1024 * 1024

const BROKEN: WholeEnd = { output: [], failure: { kind: 'cut' } }

export class ConvertedWhole implements WholeLane {
  readonly #conversion: Conversion
  readonly #chunks: Uint8Array[] = []
  #length = 0
  #json: string | undefined
  /** Reads the usage from the passing bytes when no client waits for the answer any more. */
  #tap: BodyTap | undefined
  /** What the tap has not read yet. */
  #untapped: Uint8Array[] = []

  constructor(conversion: Conversion) {
    this.#conversion = conversion
  }

  push(chunk: Uint8Array): readonly [] {
    if (this.#tap !== undefined) {
      if (this.#untapped.length > 0) this.#untapped.push(chunk)
      else this.#tap.push(chunk)
      return []
    }
    this.#length += chunk.byteLength
    if (this.#length <= WHOLE_BYTES_MAX) this.#chunks.push(chunk)
    return []
  }

  end(): ReturnType<WholeLane['end']> {
    const { client, upstream, meter, context, cutAt } = this.#conversion
    if (this.#tap !== undefined) {
      this.#tapAll()
      return { output: [], failure: this.#tap.finish().kind === 'complete' ? undefined : { kind: 'cut' } }
    }
    const body = this.#length > WHOLE_BYTES_MAX ? undefined : parseJson(Buffer.concat(this.#chunks))
    if (body === undefined) return BROKEN
    if (isJsonObject(body) && body['error'] !== undefined && body['error'] !== null) {
      const { status, raw } = upstream.decodeError(undefined, body)
      return { output: [], failure: { kind: 'error', status, raw, delivered: false } }
    }
    const response = upstream.decodeResponse(body)
    if (response.failure !== undefined) {
      const { status, raw } = response.failure
      return { output: [], failure: { kind: 'error', status, raw, delivered: false } }
    }
    if (response.usage !== undefined) meter.observeUsage(response.usage)
    else for (const text of answerText(response.candidates)) meter.observeText(text)
    meter.observeProduced()
    meter.observeImages(countImages(response.candidates))
    const whole = cutResponse({ ...response, usage: response.usage ?? meter.read().usage }, cutAt)
    return this.#ended(Buffer.from(JSON.stringify(client.encodeResponse(whole, context))))
  }

  endFar(): Promise<WholeEnd> | undefined {
    if (this.#length > WHOLE_BYTES_MAX || this.#tap !== undefined) return undefined
    // The parts of a large request that response objects repeat are large too.
    const repeated = this.#conversion.context.echo?.length ?? 0
    const isNear = this.#length <= NEAR_ANSWER_BYTES_MAX && repeated <= NEAR_ANSWER_BYTES_MAX
    if (!isNear) return this.#convertFar()
    return this.#conversion.turn(this.#length)?.then(() => this.end())
  }

  async #convertFar(): Promise<WholeEnd> {
    const { client, upstream, meter, context, cutAt, far } = this.#conversion
    const result = await far({
      kind: 'answer',
      body: await sharedBytes(this.#chunks.splice(0), this.#length),
      client: client.id,
      upstream: upstream.id,
      context,
      cutAt,
      inputTokensEstimate: context.inputTokensEstimate,
    })
    if (result.kind === 'upstream-error') {
      const { status, raw } = result
      return { output: [], failure: { kind: 'error', status, raw, delivered: false } }
    }
    if (result.kind !== 'answered') return BROKEN
    if (result.usage !== undefined) meter.observeUsage(result.usage)
    else meter.observeCounted(result.outputTokens)
    meter.observeProduced()
    meter.observeImages(result.images)
    return this.#ended(Buffer.from(result.body.buffer))
  }

  #ended(body: Buffer): WholeEnd {
    if (this.#conversion.keeps && body.byteLength <= TURN_BYTES_MAX) this.#json = body.toString('utf8')
    return { output: [body], failure: undefined }
  }

  kept(): KeptAnswer | undefined {
    return this.#json === undefined ? undefined : { kind: 'response', json: this.#json }
  }

  get meter(): LaneMeter {
    const { meter } = this.#conversion
    return {
      read: () => {
        this.#tapAll()
        return meter.read()
      },
      glance: () => meter.glance(),
      reportedOutput: meter.reportedOutput,
    }
  }

  forget(): void {
    const { upstream, meter, context } = this.#conversion
    const tap = createBodyTap(upstream.id, {
      replacementModel: context.model,
      meter,
      decodeError: (raw) => upstream.decodeError(undefined, raw),
    })
    this.#tap = tap
    this.#untapped = this.#chunks.splice(0)
    this.#tapOn()
  }

  /** Reads a part of what arrived before the client disconnected; a large answer takes several turns. */
  #tapOn(): void {
    let bytes = 0
    let count = 0
    for (const chunk of this.#untapped) {
      if (bytes >= TAPPED_AT_ONCE) break
      this.#tap?.push(chunk)
      bytes += chunk.byteLength
      count += 1
    }
    this.#untapped = this.#untapped.slice(count)
    if (this.#untapped.length > 0) this.#conversion.nextTurn(() => this.#tapOn())
  }

  /** Reads the remainder when the answer ends before that. */
  #tapAll(): void {
    for (const chunk of this.#untapped.splice(0)) this.#tap?.push(chunk)
  }
}
