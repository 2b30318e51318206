/**
 * A video order in no vendor's format: `POST /v1/videos` (JSON or multipart) and a chat call to a video model are both
 * read into it, and every vendor's request is made from it (docs/reference/contract.md#4.4).
 */
import type { JsonObject } from '../json.ts'

export interface VideoRequest {
  readonly prompt: string
  /**
   * As the client sent it, trimmed; undefined: absent or empty. May not be a number at all: then it is forwarded
   * unchanged.
   */
  readonly seconds: string | undefined
  /** Parsed `size`; undefined: absent, or not of the form `<width>x<height>`. */
  readonly size: VideoSize | undefined
  /** Explicit `ratio` (aliases `aspect_ratio`, `aspectRatio`), such as `16:9`: takes precedence over that of `size`. */
  readonly ratio: string | undefined
  /** Explicit `resolution`, such as `720p`, as sent: takes precedence over that of `size`. */
  readonly resolution: string | undefined
  /** `input_reference`. */
  readonly firstFrame: VideoMedia | undefined
  /** `image_tail`. */
  readonly lastFrame: VideoMedia | undefined
  /** `reference_images`. */
  readonly referenceImages: readonly VideoMedia[]
  /** `reference_videos`, addresses. */
  readonly referenceVideos: readonly string[]
  /** `reference_audios`, addresses. */
  readonly referenceAudios: readonly string[]
  /** `negative_prompt` (alias `negativePrompt`). */
  readonly negativePrompt: string | undefined
  /** `generate_audio` (aliases `audio`, `with_audio`, `sound`). */
  readonly generateAudio: boolean | undefined
  readonly seed: number | undefined
  readonly watermark: boolean | undefined
  /** `prompt_extend` (aliases `prompt_optimizer`, `enhance_prompt`). */
  readonly promptExtend: boolean | undefined
  /**
   * Every other top-level field, as sent: passed to the upstream unchanged. Routing keys, and fields that would make
   * the vendor call the client's own hosts (`callback_url`, `webhook`), are not in here.
   */
  readonly extras: JsonObject
}

export interface VideoSize {
  readonly width: number
  readonly height: number
}

/** An image as the vendor gets it: bytes whose type was read from their first bytes, or a public address. */
export type VideoMedia =
  | { readonly kind: 'bytes'; readonly mediaType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'url'; readonly url: string }
