/** What a chain's model can do, as its form holds it: empty is what the vendor's folder says. */
import type { Chain, ChainChange } from '../../api/operator/chains.ts'
import { everyOf } from '../../parts/forms/every-of.ts'

type Capabilities = NonNullable<ChainChange['capabilities']>
type WordOf<Name extends 'reasoning' | 'sampling' | 'images'> = NonNullable<Capabilities[Name]>

export const REASONING = everyOf<WordOf<'reasoning'>>({
  none: true,
  effort: true,
  budget: true,
  adaptive: true,
  level: true,
  toggle: true,
})
export const SAMPLING = everyOf<WordOf<'sampling'>>({ all: true, one: true, none: true })
export const IMAGES = everyOf<WordOf<'images'>>({ url: true, inline: true, none: true })
export const TOOLS = everyOf<'yes' | 'no'>({ yes: true, no: true })

/** The names are the gateway's, so that faults find their fields. */
export type CapabilityValues = {
  readonly reasoning: string
  readonly sampling: string
  readonly images: string
  readonly tools: string
  readonly max_stop: number | string
}

export function capabilityValuesOf({
  reasoning,
  sampling,
  images,
  tools,
  max_stop: stops,
}: Partial<Chain['capabilities']>): CapabilityValues {
  return {
    reasoning: reasoning ?? '',
    sampling: sampling ?? '',
    images: images ?? '',
    tools: tools === undefined ? '' : tools ? 'yes' : 'no',
    max_stop: stops ?? '',
  }
}

/** Writing some replaces all, so what is empty here is as the vendor's folder says again. */
export function capabilitiesOf(values: CapabilityValues): Capabilities {
  return {
    ...(REASONING.is(values.reasoning) ? { reasoning: values.reasoning } : {}),
    ...(SAMPLING.is(values.sampling) ? { sampling: values.sampling } : {}),
    ...(IMAGES.is(values.images) ? { images: values.images } : {}),
    ...(TOOLS.is(values.tools) ? { tools: values.tools === 'yes' } : {}),
    ...(values.max_stop === '' ? {} : { max_stop: Number(values.max_stop) }),
  }
}
