/** A key in a request: the gateway file's form and checks, reporting all mistakes at once. */
import { say } from '../../core/sentences/say.ts'
import type { Report } from '../../config/gateway-file/file-node.ts'
import { jsonNode, placeAt } from '../../config/gateway-file/json-node.ts'
import { type MapReader, openMap } from '../../config/gateway-file/map-reader.ts'
import { modelName, named } from '../../config/gateway-file/read-models.ts'
import { addressRange, instant, list, policy, shortText, word } from '../../config/gateway-file/values.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { JsonValue } from '../../core/json.ts'
import { findReferenceMistakes, type FieldMistake } from './keys.ts'
import type { Key } from '../../storage/stores/keys.ts'

/** The members in a form; one that is present as `undefined` means none. */
export type KeyForm = Partial<
  Pick<Key, 'name' | 'expiresAt' | 'group' | 'models' | 'ipAllow' | 'policy'> & {
    readonly status: 'enabled' | 'disabled'
  }
>

export type KeyFormResult =
  | { readonly kind: 'form'; readonly form: KeyForm }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] }

/** Maximum length of an allow list, which every call searches. */
const LIST_MAX = 1_000
const NAME_CHARACTERS_MAX = 100

/** `new`: a name is required. `change`: absent members are unchanged. */
export function readKeyForm(
  value: JsonValue,
  catalogue: Catalogue,
  purpose: 'new' | 'change',
): KeyFormResult {
  const mistakes: FieldMistake[] = []
  const report: Report = ({ path }, message) => {
    mistakes.push({ path, message })
  }
  const map = openMap(jsonNode(value), report)
  if (map === undefined) return { kind: 'mistakes', mistakes }
  const form = readMembers(map, purpose)
  map.close()
  reportLongLists(form, report)
  mistakes.push(...findReferenceMistakes(form, catalogue))
  return mistakes.length > 0 ? { kind: 'mistakes', mistakes } : { kind: 'form', form }
}

function readMembers(map: MapReader, purpose: 'new' | 'change'): KeyForm {
  const name = map[purpose === 'new' ? 'required' : 'optional']('name', shortText(NAME_CHARACTERS_MAX))
  const status = map.optional('status', word(['enabled', 'disabled']))
  const models = map.optional('models', list(modelName))?.map((model) => model.name)
  const ipAllow = map.optional('ip_allow', list(addressRange))
  const expiresAt = map.nullable('expires_at', instant) ?? undefined
  const group = map.nullable('group', named)?.name
  const limits = map.nullable('policy', policy) ?? undefined
  return {
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    ...(models === undefined ? {} : { models }),
    ...(ipAllow === undefined ? {} : { ipAllow }),
    ...(map.has('expires_at') && { expiresAt }),
    ...(map.has('group') && { group }),
    ...(map.has('policy') && { policy: limits }),
  }
}

function reportLongLists(form: KeyForm, report: Report): void {
  const lists = { models: form.models, ip_allow: form.ipAllow, 'policy.windows': form.policy?.windows }
  for (const [path, items] of Object.entries(lists)) {
    if ((items?.length ?? 0) > LIST_MAX) report(placeAt(path), say('at-most-elements', { most: LIST_MAX }))
  }
}
