/**
 * What one answer has used and produced, at any moment. Streams that are passed on report it through the tap, converted
 * ones through their canonical parts; either way the same arithmetic decides what is billed
 * (docs/reference/contract.md#7.3-08).
 */
import type { StreamPart } from '../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../canonical/usage.ts'
import { unescapeJson } from '../passthrough/json-text.ts'
import type { Made } from './quantities.ts'

/** Text kept before it is counted, in characters or bytes: small enough to count in about a millisecond. */
const PENDING_MAX = 8192
/** Of a longer piece this much is counted and the rest extrapolated: counting it all would block every other call. */
const COUNTED_MAX = 16_384
/**
 * The beginning of a JSON text that is enough to count it, in bytes: what is counted, and one more to see where a
 * character ends.
 */
export const JSON_TEXT_READ = COUNTED_MAX + 1
const FIRST_PENDING_BYTES = 256
/** English and code come near four characters a token in every tokenizer. Only for figures that need not be exact. */
const CHARACTERS_PER_TOKEN = 4

export interface MeterOptions {
  readonly countTokens: (text: string) => number
  /** Tokens of the request, counted; called at most once, and only if the upstream reports no usage. */
  readonly countInput: () => number
  /** The quick estimate that the hold was based on; `glance` uses it. */
  readonly inputTokensEstimate: number
  /** Output tokens of each image if the upstream reports no output; absent: none. */
  readonly tokensPerImage?: number
  /** More images than these are not believed; absent: as many as were seen. */
  readonly imagesMax?: number
  /** Output tokens of the whole answer if the upstream reports no output and the answer has no text; absent: none. */
  readonly unreportedOutput?: number
}

/** Input and output are always known here; other tokens only if the upstream reported them. */
export interface MeterReading extends Made {
  /** `estimated` as soon as one counted class was not the upstream's own figure. */
  readonly source: 'upstream' | 'estimated'
  /** Something was generated, or the answer ended cleanly: the call is settled, not abandoned. */
  readonly produced: boolean
}

/** What an observer of an answer reports. */
export interface MeterSink {
  /** Counters so far; later ones replace earlier ones. An output counter covers all text observed before it. */
  observeUsage(usage: Usage): void
  observeText(text: string): void
  /**
   * Text as written inside a JSON string, `bytes[from, to)`, escapes included; copied. `length`, in bytes: of the whole
   * text, where only its beginning is given; `JSON_TEXT_READ` of them are always enough.
   */
  observeJsonText(bytes: Uint8Array, from: number, to: number, length?: number): void
  /**
   * The same for bytes that stay as they are: a first text is not copied, because of most whole answers the upstream
   * reports the tokens.
   */
  observeKeptText(bytes: Uint8Array, length: number): void
  observeImages(count: number): void
  /** A part of the next image: once one was sent, that image is charged. */
  observeImagePart(): void
  /** The answer has begun or ended well although there is no text: a tool call, a clean finish. */
  observeProduced(): void
}

export interface Meter extends MeterSink {
  /** Output tokens as last reported by the upstream; undefined: not yet. */
  readonly reportedOutput: number | undefined
  observePart(part: StreamPart): void
  /** Tokens of text that was counted elsewhere. */
  observeCounted(tokens: number): void
  /** Exact: counts what the upstream did not report. */
  read(): MeterReading
  /** Like `read` but cheap, for progress reports: text not counted yet is estimated from its length. */
  glance(): MeterReading
}

export function createMeter(options: MeterOptions): Meter {
  return new AnswerMeter(options)
}

const NO_BYTES: Uint8Array = new Uint8Array(0)

class AnswerMeter implements Meter {
  readonly #options: MeterOptions
  #usage: Usage = NO_USAGE
  #produced = false
  #images = 0
  #imageBegun = false
  /** Tokens of text no output counter covers yet, counted and still to be counted. */
  #counted = 0
  #pendingText = ''
  #pendingBytes = NO_BYTES
  #pendingLength = 0
  /** Comes before those, and is not copied. */
  #kept: Uint8Array | undefined
  #input: number | undefined

  constructor(options: MeterOptions) {
    this.#options = options
  }

  get reportedOutput(): number | undefined {
    return this.#usage.output
  }

  observeUsage(usage: Usage): void {
    this.#usage = mergeUsage(this.#usage, usage)
    if (usage.output === undefined) return
    this.#counted = 0
    this.#pendingText = ''
    this.#pendingLength = 0
    this.#kept = undefined
    if (usage.output > 0) this.#produced = true
  }

  observeText(text: string): void {
    if (text === '') return
    this.#produced = true
    this.#pendingText += text
    if (this.#pendingText.length > PENDING_MAX) this.#count()
  }

  observeJsonText(bytes: Uint8Array, from: number, to: number, length = to - from): void {
    if (length <= 0) return
    this.#produced = true
    if (length > COUNTED_MAX) {
      // Not copied: only its beginning is read.
      this.#counted += this.#countJson(bytes.subarray(from, to), length)
      return
    }
    this.#copyKept()
    if (this.#pendingLength + length > this.#pendingBytes.length) this.#makeRoom(length)
    const pending = this.#pendingBytes
    let at = this.#pendingLength
    // Deltas are a few bytes long; copying them one by one is quicker than making a view.
    if (length <= 64) for (let index = from; index < to; index++) pending[at++] = bytes[index] ?? 0
    else pending.set(bytes.subarray(from, to), at)
    this.#pendingLength += length
    if (this.#pendingLength > PENDING_MAX) this.#count()
  }

  observeKeptText(bytes: Uint8Array, length: number): void {
    if (this.#kept !== undefined || this.#pendingLength > 0 || bytes.length !== length || length === 0)
      return this.observeJsonText(bytes, 0, bytes.length, length)
    this.#produced = true
    this.#kept = bytes
  }

  #copyKept(): void {
    const kept = this.#kept
    if (kept === undefined) return
    this.#kept = undefined
    this.observeJsonText(kept, 0, kept.length)
  }

  observeCounted(tokens: number): void {
    if (tokens <= 0) return
    this.#produced = true
    this.#counted += tokens
  }

  observeImages(count: number): void {
    if (count <= 0) return
    this.#images += count
    this.#imageBegun = false
    this.#produced = true
  }

  observeImagePart(): void {
    this.#imageBegun = true
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
    const waiting = this.#pendingText.length + this.#pendingLength + (this.#kept?.length ?? 0)
    const pending = Math.ceil(waiting / CHARACTERS_PER_TOKEN)
    return this.#reading(this.#counted + pending, this.#input ?? this.#options.inputTokensEstimate)
  }

  #reading(uncoveredOutput: number, estimatedInput: number): MeterReading {
    const reported = this.#usage
    const seen = this.#images + (this.#imageBegun ? 1 : 0)
    const images = Math.min(seen, this.#options.imagesMax ?? seen)
    const ofImages = reported.output === undefined ? images * (this.#options.tokensPerImage ?? 0) : 0
    const untold = reported.output === undefined ? (this.#options.unreportedOutput ?? 0) : 0
    const estimated = reported.input === undefined || uncoveredOutput + ofImages + untold > 0
    return {
      usage: {
        ...reported,
        input: reported.input ?? estimatedInput,
        output: (reported.output ?? 0) + uncoveredOutput + ofImages + untold,
      },
      source: estimated ? 'estimated' : 'upstream',
      produced: this.#produced,
      images,
    }
  }

  #count(): void {
    if (this.#pendingText !== '') {
      const sample = this.#pendingText.slice(0, COUNTED_MAX)
      this.#counted += extended(this.#options.countTokens(sample), sample.length, this.#pendingText.length)
      this.#pendingText = ''
    }
    if (this.#kept !== undefined) {
      this.#counted += this.#countJson(this.#kept, this.#kept.length)
      this.#kept = undefined
    }
    if (this.#pendingLength > 0) {
      this.#counted += this.#countJson(this.#pendingBytes, this.#pendingLength)
      this.#pendingLength = 0
    }
  }

  #countJson(bytes: Uint8Array, length: number): number {
    if (length <= COUNTED_MAX) return this.#options.countTokens(unescapeJson(bytes.subarray(0, length)))
    const sample = wholeEscapes(bytes, COUNTED_MAX)
    return extended(this.#options.countTokens(unescapeJson(sample)), sample.length, length)
  }

  #makeRoom(length: number): void {
    const needed = this.#pendingLength + length
    const grown = new Uint8Array(Math.max(FIRST_PENDING_BYTES, needed, this.#pendingBytes.length * 2))
    grown.set(this.#pendingBytes.subarray(0, this.#pendingLength))
    this.#pendingBytes = grown
  }
}

/**
 * The rest of a text counts like its beginning, and at least at the usual rate, so that a beginning of blanks does not
 * reduce the count.
 */
function extended(tokens: number, sampled: number, length: number): number {
  if (length <= sampled) return tokens
  return tokens + Math.ceil((length - sampled) * Math.max(tokens / sampled, 1 / CHARACTERS_PER_TOKEN))
}

const BACKSLASH = 0x5c
/** A surrogate pair takes two escapes of six. */
const ESCAPES_BYTES_MAX = 12

/** The beginning of a JSON string's content, about `most` bytes long, not ending inside a character or an escape. */
function wholeEscapes(bytes: Uint8Array, most: number): Uint8Array {
  let end = most
  for (let at = most; at > most - ESCAPES_BYTES_MAX; at -= 1) if (bytes[at] === BACKSLASH) end = at
  while (end > 0 && bytes[end - 1] === BACKSLASH) end -= 1
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, Math.max(1, end))
}
