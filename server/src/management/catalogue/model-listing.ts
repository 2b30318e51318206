/**
 * `GET /v1/models`: the models one key may call, in the list format its client reads
 * (docs/reference/contract.md#D-addresses-25).
 */
import type { Catalogue, Model } from '../../core/catalogue.ts'
import { usableChains } from '../../core/routing/order.ts'
import type { Key } from '../../storage/stores/keys.ts'

/** One item in the chat protocol's listing. Both protocols' dates are when the platform began to offer the model. */
export interface ChatModelItem {
  readonly id: string
  readonly object: 'model'
  readonly created: number
  readonly owned_by: string
}

export interface ChatModelListing {
  readonly object: 'list'
  readonly data: readonly ChatModelItem[]
}

/** One item in the messages protocol's listing; null means unknown in that protocol. */
export interface MessagesModelItem {
  readonly type: 'model'
  readonly id: string
  readonly display_name: string
  readonly created_at: string
  readonly max_input_tokens: number | null
  readonly max_tokens: number | null
  readonly capabilities: null
  readonly deprecated_at: null
  readonly lifecycle: 'active'
  readonly line: null
}

export interface MessagesModelListing {
  readonly data: readonly MessagesModelItem[]
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
}

/** The messages protocol's paging: at most 1000 a page, 20 by default. */
export interface MessagesPage {
  readonly limit: number | undefined
  readonly afterId: string | undefined
  readonly beforeId: string | undefined
}

export const MESSAGES_PAGE_LIMIT_DEFAULT = 20
export const MESSAGES_PAGE_LIMIT_MAX = 1000

/** The list does not name providers, because the gateway chooses one for each call. */
const OWNER = 'sluice'

/**
 * Models with a usable chain that the key's allow list and group let through, in catalogue order. A hidden model is
 * listed only for a key whose allow list names it.
 */
export function listModelsForKey(catalogue: Catalogue, key: Pick<Key, 'group' | 'models'>): readonly Model[] {
  return [...catalogue.models.values()].filter((model) => isListed(catalogue, key, model))
}

/** One model of the listing; undefined is a 404 in the client's protocol. */
export function findModelForKey(
  catalogue: Catalogue,
  key: Pick<Key, 'group' | 'models'>,
  id: string,
): Model | undefined {
  return listModelsForKey(catalogue, key).find((model) => model.modelId === id)
}

export function encodeChatListing(models: readonly Model[]): ChatModelListing {
  return { object: 'list', data: models.map(encodeChatModel) }
}

export function encodeChatModel(model: Model): ChatModelItem {
  return { id: model.modelId, object: 'model', created: Math.floor(model.createdAt / 1000), owned_by: OWNER }
}

export function encodeMessagesListing(models: readonly Model[], page: MessagesPage): MessagesModelListing {
  const limit = Math.min(Math.max(page.limit ?? MESSAGES_PAGE_LIMIT_DEFAULT, 1), MESSAGES_PAGE_LIMIT_MAX)
  const { candidates, backwards } = candidatesOf(models, page)
  const shown = backwards ? candidates.slice(-limit) : candidates.slice(0, limit)
  return {
    data: shown.map(encodeMessagesModel),
    has_more: candidates.length > shown.length,
    first_id: shown[0]?.modelId ?? null,
    last_id: shown.at(-1)?.modelId ?? null,
  }
}

export function encodeMessagesModel(model: Model): MessagesModelItem {
  return {
    type: 'model',
    id: model.modelId,
    display_name: model.name,
    created_at: new Date(model.createdAt).toISOString(),
    max_input_tokens: model.contextTokens ?? null,
    max_tokens: model.maxOutputTokens ?? null,
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
  }
}

function isListed(catalogue: Catalogue, key: Pick<Key, 'group' | 'models'>, model: Model): boolean {
  const named = key.models.includes(model.modelId)
  if (key.models.length > 0 && !named) return false
  if (!model.clientVisible && !named) return false
  if (key.group !== undefined && !isInGroup(catalogue, key.group, model)) return false
  return model.status === 'enabled' && usableChains(model, catalogue).length > 0
}

/** A group that was removed allows no models, as for calls. */
function isInGroup(catalogue: Catalogue, group: string, model: Model): boolean {
  return catalogue.groups.get(group)?.models.includes(model.modelId) ?? false
}

/** The models after `after_id`, or before `before_id`; none for an unknown id. */
function candidatesOf(
  models: readonly Model[],
  page: MessagesPage,
): { readonly candidates: readonly Model[]; readonly backwards: boolean } {
  if (page.afterId !== undefined) {
    const index = models.findIndex((model) => model.modelId === page.afterId)
    return { candidates: index === -1 ? [] : models.slice(index + 1), backwards: false }
  }
  if (page.beforeId !== undefined) {
    const index = models.findIndex((model) => model.modelId === page.beforeId)
    return { candidates: index === -1 ? [] : models.slice(0, index), backwards: true }
  }
  return { candidates: models, backwards: false }
}
