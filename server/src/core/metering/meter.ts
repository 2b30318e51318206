/**
 * What one answer has used and produced, at any moment of its life. Passed streams tell it through the tap, converted
 * ones through their canonical parts; either way the same arithmetic decides what is billed (contract §7.3.3).
 */
import type { StreamPart } from '../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../canonical/usage.ts'
import { unescapeJson } from '../passthrough/json-text.ts'

/** Text kept before it is counted, in characters or bytes: small enough to count in about a millisecond. */
const PENDING_MAX = 8192
const FIRST_PENDING_BYTES = 256
/** English and code come near four characters a token in every tokenizer. Only for figures that need not be exact. */
const CHARACTERS_PER_TOKEN = 4

export interface MeterOptions {
  readonly countTokens: (text: string) => number
  /** Tokens of the request, counted; asked for at most once, and only when the upstream reports no usage. */
  readonly countInput: () => number
  /** The quick estimate that sized the hold; `glance` uses it. */
  readonly inputTokensEstimate: number
}

export interface MeterReading {
  /** Disjoint token classes. Input and output are always known here; the others only where the upstream told them. */
  readonly usage: Usage
  /** `estimated` as soon as one counted class was not the upstream's own figure. */
  readonly source: 'upstream' | 'estimated'
  /** Something was generated, or the answer ended cleanly: the call is settled, not abandoned. */
  readonly produced: boolean
  /** Generated images. */
  readonly images: number
}

/** What an observer of an answer tells. */
export interface MeterSink {
  /** Counters so far; later ones replace earlier ones. An output counter covers all text told before it. */
  observeUsage(usage: Usage): void
  observeText(text: string): void
  /** Text as it stands inside a JSON string, `bytes[from, to)`, escapes and all; copied. */
  observeJsonText(bytes: Uint8Array, from: number, to: number): void
  observeImages(count: number): void
  /** The answer has begun or ended well even where no text shows it: a tool call, a clean finish. */
  observeProduced(): void
}

export interface Meter extends MeterSink {
  observePart(part: StreamPart): void
  /** Exact: counts what the upstream did not report. */
  read(): MeterReading
  /** Like `read` but cheap, for progress notes: text not counted yet is judged by its length. */
  glance(): MeterReading
}

export function createMeter(options: MeterOptions): Meter {
  return new AnswerMeter(options)
}

class AnswerMeter implements Meter {
  readonly #options: MeterOptions
  #usage: Usage = NO_USAGE
  #produced = false
  #images = 0
  /** Tokens of text no output counter covers yet, counted and still to be counted. */
  #counted = 0
  #pendingText = ''
  #pendingBytes: Uint8Array = new Uint8Array(0)
  #pendingLength = 0
  #input: number | undefined

  constructor(options: MeterOptions) {
    this.#options = options
  }

  observeUsage(usage: Usage): void {
    this.#usage = mergeUsage(this.#usage, usage)
    if (usage.output === undefined) return
    this.#counted = 0
    this.#pendingText = ''
    this.#pendingLength = 0
    if (usage.output > 0) this.#produced = true
  }

  observeText(text: string): void {
    if (text === '') return
    this.#produced = true
    this.#pendingText += text
    if (this.#pendingText.length > PENDING_MAX) this.#count()
  }

  observeJsonText(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from
    if (length <= 0) return
    this.#produced = true
    if (this.#pendingLength + length > this.#pendingBytes.length) this.#makeRoom(length)
    const pending = this.#pendingBytes
    let at = this.#pendingLength
    // Deltas are a few bytes long; copying them one by one is quicker than making a view.
    if (length <= 64) for (let index = from; index < to; index++) pending[at++] = bytes[index] ?? 0
    else pending.set(bytes.subarray(from, to), at)
    this.#pendingLength += length
    if (this.#pendingLength > PENDING_MAX) this.#count()
  }

  observeImages(count: number): void {
    if (count <= 0) return
    this.#images += count
    this.#produced = true
  }

  observeProduced(): void {
    this.#produced = true
  }

  observePart(part: StreamPart): void {
    switch (part.type) {
      case 'text-delta':
      case 'arguments-delta':
        this.observeText(part.text)
        return
      case 'usage':
        this.observeUsage(part.usage)
        return
      case 'block-start':
        if (part.kind.type === 'tool-call') {
          this.observeProduced()
          this.observeText(part.kind.name)
        } else if (part.kind.type === 'media' && part.kind.mediaType.startsWith('image/'))
          this.observeImages(1)
        return
      case 'finish':
        this.observeProduced()
        return
      case 'start':
      case 'signature':
      case 'citation':
      case 'logprobs':
      case 'block-end':
      case 'ping':
      case 'end':
      case 'error':
        return
    }
  }

  read(): MeterReading {
    this.#count()
    if (this.#usage.input === undefined) this.#input ??= this.#options.countInput()
    return this.#reading(this.#counted, this.#input ?? 0)
  }

  glance(): MeterReading {
    const pending = Math.ceil((this.#pendingText.length + this.#pendingLength) / CHARACTERS_PER_TOKEN)
    return this.#reading(this.#counted + pending, this.#input ?? this.#options.inputTokensEstimate)
  }

  #reading(uncoveredOutput: number, estimatedInput: number): MeterReading {
    const reported = this.#usage
    const estimated = reported.input === undefined || uncoveredOutput > 0
    return {
      usage: {
        ...reported,
        input: reported.input ?? estimatedInput,
        output: (reported.output ?? 0) + uncoveredOutput,
      },
      source: estimated ? 'estimated' : 'upstream',
      produced: this.#produced,
      images: this.#images,
    }
  }

  #count(): void {
    if (this.#pendingText !== '') {
      this.#counted += this.#options.countTokens(this.#pendingText)
      this.#pendingText = ''
    }
    if (this.#pendingLength > 0) {
      this.#counted += this.#options.countTokens(
        unescapeJson(this.#pendingBytes.subarray(0, this.#pendingLength)),
      )
      this.#pendingLength = 0
    }
  }

  #makeRoom(length: number): void {
    const needed = this.#pendingLength + length
    const grown = new Uint8Array(Math.max(FIRST_PENDING_BYTES, needed, this.#pendingBytes.length * 2))
    grown.set(this.#pendingBytes.subarray(0, this.#pendingLength))
    this.#pendingBytes = grown
  }
}
