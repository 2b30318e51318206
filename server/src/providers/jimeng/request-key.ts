/** Jimeng has no models but request keys, one for each kind of request at each resolution; a chain names one of them. */
import type { VideoRequest } from '../../core/video/request.ts'
import { type Tier, tierOfResolution, tierOfSize } from '../../core/video/size.ts'

export interface RequestKey {
  readonly key: string
  readonly frames: 'none' | 'first' | 'both'
}

type Frames = RequestKey['frames']

const V30: Readonly<Record<'720' | '1080', Readonly<Record<Frames, string>>>> = {
  720: {
    none: 'jimeng_t2v_v30',
    first: 'jimeng_i2v_first_v30',
    both: 'jimeng_i2v_first_tail_v30',
  },
  1080: {
    none: 'jimeng_t2v_v30_1080p',
    first: 'jimeng_i2v_first_v30_1080',
    both: 'jimeng_i2v_first_tail_v30_1080',
  },
}

/** For 3.0 the key depends on the order; others keep the key in their name. */
export function requestKeyFor(model: string, request: VideoRequest): RequestKey {
  const asked = framesOf(request)
  if (!/^jimeng_(t2v|i2v_first|i2v_first_tail)_v30(_1080p?)?$/.test(model)) {
    return { key: model, frames: asked === 'none' ? 'none' : framesTaken(model, asked) }
  }
  return { key: V30[stepOf(model, request)][asked], frames: asked }
}

function framesOf({ firstFrame, lastFrame }: VideoRequest): Frames {
  if (firstFrame === undefined) return 'none'
  return lastFrame === undefined ? 'first' : 'both'
}

function framesTaken(model: string, asked: 'first' | 'both'): Frames {
  if (/tail/.test(model)) return asked
  return /_t2v_/.test(model) ? 'none' : 'first'
}

const LOW: readonly Tier[] = ['480p', '540p', '720p', '768p']

/** The explicit resolution, else the one the size implies, else that of the chain's name. */
function stepOf(model: string, { resolution, size }: VideoRequest): '720' | '1080' {
  const explicit = resolution === undefined ? undefined : tierOfResolution(resolution)
  const tier = explicit ?? (size === undefined ? undefined : tierOfSize(size))
  if (tier === undefined) return /_1080p?$/.test(model) ? '1080' : '720'
  return LOW.includes(tier) ? '720' : '1080'
}

/** Whether a key can be chosen by this resolution. */
export function hasKeyFor(model: string, resolution: string): boolean {
  return requestKeyIsChosen(model) && ['720p', '1080p'].includes(tierOfResolution(resolution) ?? '')
}

function requestKeyIsChosen(model: string): boolean {
  return Object.values(V30).some((keys) => Object.values(keys).includes(model))
}
