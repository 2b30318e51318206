/** What a chain accepts of a request: rules shared by the encoders, decided by the chain's capabilities. */
import { effortOf } from '../canonical/effort.ts'
import { hashText } from '../canonical/hash-text.ts'
import type { CanonicalRequest, MediaPart, ToolChoice, Turn } from '../canonical/request.ts'
import type { Capabilities, Encoded, Refused } from './protocol.ts'
import { unsupported } from './refusal.ts'

/**
 * Models that refuse sampling fields while they reason take them with reasoning off
 * (docs/protocols.md#requests-between-protocols).
 */
export function takesHeat(
  { reasoning }: CanonicalRequest,
  { sampling, efforts }: Pick<Capabilities, 'sampling' | 'efforts'>,
): boolean {
  return sampling !== 'none' || (efforts.includes('none') && reasoning?.effort === 'none')
}

/**
 * Within 0 to 2 a temperature above the model's maximum becomes that maximum; values outside are left to the upstream
 * (docs/protocols.md#requests-between-protocols).
 */
export function clampTemperature(temperature: number, { temperatureMax }: Capabilities): number {
  return temperature > 2 ? temperature : Math.min(temperature, temperatureMax)
}

/** Every piece of an answer is compared with each of them, so they must be few and short, as vendors require too. */
const CUTS_MAX = 16
const CUT_LENGTH_MAX = 256

/** The sequences that exceed what the chain takes; the gateway cuts the answer at these. */
export function cutAt(stop: readonly string[], taken: readonly string[]): Pick<Encoded, 'cutAt'> {
  const left = stop.filter((each) => !taken.includes(each) && each !== '' && each.length <= CUT_LENGTH_MAX)
  return left.length === 0 ? {} : { cutAt: left.slice(0, CUTS_MAX) }
}

/** OpenAI's limit for end-user ids; other protocols' ids can be whole JSON documents (docs/protocols.md#client-4). */
const USER_LENGTH_MAX = 64

export function shortUser(user: string): string {
  return user.length <= USER_LENGTH_MAX ? user : `user_${hashText(user)}`
}

/** Messages and Gemini have another name for the standard tier. */
export function tierWord(tier: string): string {
  return tier === 'standard_only' || tier === 'standard' ? 'default' : tier
}

export function isForced(choice: ToolChoice): boolean {
  switch (choice.kind) {
    case 'required':
    case 'tool':
      return true
    case 'allowed':
      return choice.mode === 'required'
    case 'auto':
    case 'none':
      return false
  }
}

/** The model will think before it answers. */
export function reasons({ reasoning }: CanonicalRequest, capabilities: Capabilities): boolean {
  if (reasoning === undefined || capabilities.reasoning === 'none') return false
  return effortOf(reasoning) !== 'none'
}

/** A forced tool where thinking forbids it becomes a free choice (docs/protocols.md#trap-32). */
export function mustFreeChoice(request: CanonicalRequest, capabilities: Capabilities): boolean {
  const { toolChoice } = request
  if (toolChoice === undefined || !isForced(toolChoice)) return false
  return reasons(request, capabilities) && !capabilities.forcedToolWithReasoning
}

/**
 * Finds a requested feature without which the answer would be a different one
 * (docs/protocols.md#what-is-dropped-and-what-is-refused).
 */
export function findImpossible(request: CanonicalRequest, capabilities: Capabilities): Refused | undefined {
  if ((request.candidates ?? 1) > 1 && !capabilities.candidates) {
    return unsupported('candidates', 'this model gives one answer per request')
  }
  if (isBegun(request.turns.at(-1)) && !capabilities.prefill) {
    return unsupported(
      'turns',
      'this model cannot continue an answer that the request begins: end with a message of the user',
    )
  }
  return undefined
}

/** The client sent the beginning of the answer itself. */
function isBegun(last: Turn | undefined): boolean {
  if (last?.role !== 'assistant') return false
  const called = last.parts.some((part) => part.type === 'tool-call')
  return !called && last.parts.some((part) => part.type === 'text')
}

export function findMediaProblem(
  { media, source }: MediaPart,
  { images, audio, documents }: Capabilities,
): Refused | undefined {
  if (source.kind === 'file-id') {
    return unsupported('turns', 'files uploaded to a provider are not available here; send their content')
  }
  switch (media) {
    case 'image':
      return images === 'none' ? unsupported('turns', 'this model takes no images') : undefined
    case 'audio':
      return audio ? undefined : unsupported('turns', 'this model takes no audio')
    case 'file':
      return documents === 'none' && source.kind !== 'text'
        ? unsupported('turns', 'this model takes no documents')
        : undefined
  }
}

/** Decoders treat videos as files: the canonical form has no video part. */
export function isVideo({ media, source }: MediaPart): boolean {
  const typed = source.kind === 'base64' || source.kind === 'url'
  return media === 'file' && typed && source.mediaType?.toLowerCase().startsWith('video/') === true
}

/** Neither protocol has a field for errors, so the text says it (docs/protocols.md#requests-between-protocols). */
export function withErrorWord(text: string, isError: boolean): string {
  return isError && !/^\W*error\b/i.test(text) ? `Error: ${text}` : text
}
