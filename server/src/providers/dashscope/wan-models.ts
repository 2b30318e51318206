/** Wan's model names: up to 2.7 there is one model per kind of order, and a chain names one of them. */

/** What a video is made from. */
export type WanMode = 'text' | 'image' | 'frames' | 'references'

export interface WanModel {
  readonly name: string
  readonly mode: WanMode
}

/** The models of one generation and grade, by their common name. */
const FAMILIES: Readonly<Record<string, Readonly<Partial<Record<WanMode, string>>>>> = {
  'wan2.7': { text: 'wan2.7-t2v', image: 'wan2.7-i2v', frames: 'wan2.7-i2v', references: 'wan2.7-r2v' },
  'wan2.6': { text: 'wan2.6-t2v', image: 'wan2.6-i2v', references: 'wan2.6-r2v' },
  'wan2.6-flash': { image: 'wan2.6-i2v-flash', references: 'wan2.6-r2v-flash' },
  'wan2.5-preview': { text: 'wan2.5-t2v-preview', image: 'wan2.5-i2v-preview' },
  'wan2.2-plus': { text: 'wan2.2-t2v-plus', image: 'wan2.2-i2v-plus' },
  'wan2.2-flash': { image: 'wan2.2-i2v-flash', frames: 'wan2.2-kf2v-flash' },
  'wanx2.1-turbo': { text: 'wanx2.1-t2v-turbo', image: 'wanx2.1-i2v-turbo' },
  'wanx2.1-plus': { text: 'wanx2.1-t2v-plus', image: 'wanx2.1-i2v-plus', frames: 'wanx2.1-kf2v-plus' },
}

const MODES: Readonly<Record<string, readonly WanMode[]>> = {
  t2v: ['text'],
  i2v: ['image', 'frames'],
  kf2v: ['frames'],
  r2v: ['references'],
}

/**
 * The model for the first of these modes that the family has one for. A model that fits already keeps its name, including
 * a date; a model outside the families does everything, as Wan 3.0 does.
 */
export function wanModelFor(model: string, wanted: readonly WanMode[]): WanModel {
  const found = /^(wanx?\d\.\d)-(t2v|i2v|kf2v|r2v)(-[a-z]+)?(?:-\d{4}-\d{2}-\d{2})?$/.exec(model)
  if (found === null) return { name: model, mode: wanted[0] ?? 'text' }
  const [, generation = '', kind = '', grade = ''] = found
  const family = FAMILIES[`${generation}${grade}`]
  const own = MODES[kind] ?? []
  for (const mode of wanted) {
    const name = family === undefined ? (own.includes(mode) ? model : undefined) : family[mode]
    if (name !== undefined) return { name: model.startsWith(name) ? model : name, mode }
  }
  // No model of the family does this: the vendor's own error is the clearest.
  return { name: model, mode: own[0] ?? 'text' }
}

/** Up to 2.6, images and sizes have separate fields; from 2.7 on there is a list of media, and ratio and resolution. */
export function hasMediaList(model: string): boolean {
  const version = /^wanx?(\d+\.\d+)/.exec(model)?.[1]
  return version === undefined || Number(version) >= 2.7
}

/** Wan 3.0 has one more resolution, more ratios, a switch for sound, and accepts sounds as references. */
export function isUnited(model: string): boolean {
  return Number(/^wanx?(\d+\.\d+)/.exec(model)?.[1] ?? 3) >= 3
}
