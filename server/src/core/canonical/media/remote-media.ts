/**
 * Media that a client named by address but a chain wants inline: lists them, and replaces them with their bytes. The
 * caller fetches the bytes in between.
 */
import type { CanonicalRequest, MediaPart, MediaSource, Part, ToolResultPart, Turn } from '../request.ts'

/** Whether a chain takes this part only with its bytes. */
export type NeedsInline = (part: MediaPart) => boolean

export interface RemoteMedia {
  readonly url: string
  readonly media: MediaPart['media']
}

/** Each address once, in order of first appearance. */
export function listRemoteMedia(request: CanonicalRequest, needsInline: NeedsInline): readonly RemoteMedia[] {
  const found = new Map<string, RemoteMedia>()
  for (const turn of request.turns) {
    for (const part of turn.parts) {
      for (const media of mediaOf(part)) {
        if (media.source.kind !== 'url' || found.has(media.source.url) || !needsInline(media)) continue
        found.set(media.source.url, { url: media.source.url, media: media.media })
      }
    }
  }
  return [...found.values()]
}

/** Turns without such media are returned unchanged. */
export function inlineMedia(
  request: CanonicalRequest,
  needsInline: NeedsInline,
  fetched: ReadonlyMap<string, MediaSource>,
): CanonicalRequest {
  const replace = (part: MediaPart): MediaPart => {
    const source = part.source.kind === 'url' && needsInline(part) ? fetched.get(part.source.url) : undefined
    return source === undefined ? part : { ...part, source }
  }
  return { ...request, turns: request.turns.map((turn) => replaceInTurn(turn, replace)) }
}

function mediaOf(part: Part): readonly MediaPart[] {
  if (part.type === 'media') return [part]
  return part.type === 'tool-result' ? part.content.filter((inner) => inner.type === 'media') : []
}

type Replace = (part: MediaPart) => MediaPart

function replaceInTurn(turn: Turn, replace: Replace): Turn {
  if (!turn.parts.some((part) => mediaOf(part).length > 0)) return turn
  return { ...turn, parts: turn.parts.map((part) => replaceInPart(part, replace)) }
}

function replaceInPart(part: Part, replace: Replace): Part {
  if (part.type === 'media') return replace(part)
  return part.type === 'tool-result' ? replaceInResult(part, replace) : part
}

function replaceInResult(result: ToolResultPart, replace: Replace): ToolResultPart {
  return {
    ...result,
    content: result.content.map((inner) => (inner.type === 'media' ? replace(inner) : inner)),
  }
}
