/** Capabilities of a chain as form values; empty: the default of the vendor's module. */
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

/** Names are the gateway's, so that errors are shown beside their fields. */
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

/** The request replaces all capabilities, so empty fields return to the defaults of the vendor's module. */
export function capabilitiesOf(values: CapabilityValues): Capabilities {
  return {
    ...(REASONING.is(values.reasoning) ? { reasoning: values.reasoning } : {}),
    ...(SAMPLING.is(values.sampling) ? { sampling: values.sampling } : {}),
    ...(IMAGES.is(values.images) ? { images: values.images } : {}),
    ...(TOOLS.is(values.tools) ? { tools: values.tools === 'yes' } : {}),
    ...(values.max_stop === '' ? {} : { max_stop: Number(values.max_stop) }),
  }
}
