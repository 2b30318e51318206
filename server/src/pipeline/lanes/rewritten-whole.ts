/** A whole answer in a vendor's own form: rewritten once it is complete, then read like the client's form. */
import type { RewrittenAnswer } from './edit-body.ts'
import type { Bytes, LaneMeter, WholeEnd, WholeLane } from './lane.ts'
import { sharedBytes } from './threads/shared-bytes.ts'
import type { TaskResult } from './threads/work.ts'

/** No vendor answers with more in one document. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024
/** Parsing and encoding this much takes a few milliseconds. */
const NEAR_BYTES_MAX = 131_072

const BROKEN: WholeEnd = { output: [], failure: { kind: 'cut' } }

export interface AnswerRewriting {
  /** undefined: this is not a valid answer of the vendor. */
  near(body: Uint8Array): RewrittenAnswer | undefined
  /** The same in a thread. */
  far(body: Uint8Array): Promise<TaskResult>
  /** The rewritten answer with the bytes of its images in place of their addresses. Absent: they were not requested. */
  readonly withPictures?: ((answer: readonly Bytes[]) => Promise<readonly Bytes[]>) | undefined
}

/**
 * The answer is collected to its end even if the client has disconnected: its usage is only known then, and its size is
 * limited.
 */
export class RewrittenWhole implements WholeLane {
  readonly #inner: WholeLane
  readonly #rewriting: AnswerRewriting
  readonly #chunks: Uint8Array[] = []
  #length = 0
  #unheard = false
  contentType: string | undefined

  /** `inner` reads the rewritten answer and passes it on. */
  constructor(inner: WholeLane, rewriting: AnswerRewriting) {
    this.#inner = inner
    this.#rewriting = rewriting
  }

  push(chunk: Uint8Array): readonly [] {
    this.#length += chunk.byteLength
    if (this.#length <= WHOLE_BYTES_MAX) this.#chunks.push(chunk)
    return []
  }

  end(): WholeEnd {
    const rewritten =
      this.#length > WHOLE_BYTES_MAX ? undefined : this.#rewriting.near(Buffer.concat(this.#chunks))
    return rewritten === undefined ? BROKEN : this.#told(rewritten)
  }

  endFar(): Promise<WholeEnd> | undefined {
    const { withPictures } = this.#rewriting
    const isFar = this.#length > NEAR_BYTES_MAX && this.#length <= WHOLE_BYTES_MAX
    // A client that has disconnected does not need the images.
    if (withPictures === undefined || this.#unheard) return isFar ? this.#endInThread() : undefined
    return this.#endWithPictures(isFar ? this.#endInThread() : this.end(), withPictures)
  }

  forget(): void {
    this.#unheard = true
  }

  async #endWithPictures(
    ending: WholeEnd | Promise<WholeEnd>,
    withPictures: NonNullable<AnswerRewriting['withPictures']>,
  ): Promise<WholeEnd> {
    const { output, failure } = await ending
    return { output: failure === undefined ? await withPictures(output) : output, failure }
  }

  async #endInThread(): Promise<WholeEnd> {
    const result = await this.#rewriting.far(await sharedBytes(this.#chunks.splice(0), this.#length))
    return result.kind === 'rewritten' ? this.#told(result.answer) : BROKEN
  }

  #told({ document, sound }: RewrittenAnswer): WholeEnd {
    const begun = this.#inner.push(document)
    const { output, failure } = this.#inner.end()
    if (sound === undefined || failure !== undefined) return { output: [...begun, ...output], failure }
    this.contentType = sound.type
    return { output: [sound.bytes], failure }
  }

  kept() {
    return this.#inner.kept()
  }

  get meter(): LaneMeter {
    return this.#inner.meter
  }
}
