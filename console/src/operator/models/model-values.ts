/** Converts a model between form values and request bodies; field names match, so that errors are shown beside them. */
import type { AnyModel } from '../../api/operator/catalogue.ts'
import type { ModelChange, NewModel } from '../../api/operator/models.ts'
import { FEATURES } from '../../parts/values/features.ts'
import { pricingBodyOf, type PricingValues, pricingValuesOf } from '../parts/pricing-values.ts'

export const STATUSES = ['enabled', 'maintenance', 'disabled'] as const
type Feature = (typeof FEATURES)[number]

export type SurchargeValues = {
  readonly name: string
  /** `factor`: of the whole call; `per_call`: for each use. */
  readonly kind: 'factor' | 'per_call'
  readonly value: number | string
}

export type ModelValues = {
  readonly model_id: string
  readonly name: string
  readonly status: (typeof STATUSES)[number]
  readonly client_visible: boolean
  readonly support_features: Feature[]
  readonly required_verification: string
  readonly required_plan: number | string
  /** Empty: not known. */
  readonly context_tokens: number | string
  readonly max_output_tokens: number | string
  readonly subscription_covered: boolean
  /** Only for a new model; the prices of an existing one have a form of their own, as each change has its own time. */
  readonly pricing: PricingValues
  readonly surcharges: SurchargeValues[]
  readonly refuse: string[]
}

export function modelValuesOf(of: AnyModel | undefined, currency: string): ModelValues {
  return {
    model_id: of?.model_id ?? '',
    name: of?.name ?? '',
    status: STATUSES.find((each) => each === of?.status) ?? 'enabled',
    client_visible: of?.client_visible ?? true,
    support_features: FEATURES.filter((each) => (of?.support_features ?? ['text']).includes(each)),
    required_verification: String(of?.required_verification ?? 0),
    required_plan: of?.required_plan ?? 0,
    context_tokens: of?.context_tokens ?? '',
    max_output_tokens: of?.max_output_tokens ?? '',
    subscription_covered: of?.subscription_covered ?? false,
    pricing: pricingValuesOf(of?.pricing ?? null, currency),
    surcharges: Object.entries(of?.surcharges ?? {}).map(([name, value]) =>
      typeof value === 'object'
        ? { name, kind: 'per_call', value: value.per_call }
        : { name, kind: 'factor', value },
    ),
    refuse: [...(of?.refuse ?? [])],
  }
}

function bodyOf(values: ModelValues) {
  const tokens = (count: number | string): number | null => (count === '' ? null : Number(count))
  return {
    name: values.name.trim(),
    status: values.status,
    client_visible: values.client_visible,
    support_features: values.support_features,
    required_verification: Number(values.required_verification),
    required_plan: Number(values.required_plan),
    context_tokens: tokens(values.context_tokens),
    max_output_tokens: tokens(values.max_output_tokens),
    subscription_covered: values.subscription_covered,
    surcharges: Object.fromEntries(
      values.surcharges.map(({ name, kind, value }) => [
        name.trim(),
        kind === 'factor' ? String(value) : { per_call: String(value) },
      ]),
    ),
    refuse: values.refuse,
  }
}

export function newModelOf(values: ModelValues): NewModel {
  const { name, ...others } = bodyOf(values)
  return {
    model_id: values.model_id.trim(),
    ...(name === '' ? {} : { name }),
    ...others,
    pricing: pricingBodyOf(values.pricing),
  }
}

/** Only changed fields. */
export function changeOf(values: ModelValues, before: ModelValues): ModelChange {
  const had: Readonly<Record<string, unknown>> = bodyOf(before)
  return Object.fromEntries(
    Object.entries(bodyOf(values)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(had[name]),
    ),
  )
}
