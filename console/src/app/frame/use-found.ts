/** What the search finds beside pages: keys and models by name, a call by its id; accounts for who runs the gateway. */
import { useDebouncedValue } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { callsQuery } from '../../api/calls.ts'
import { keysQuery } from '../../api/keys.ts'
import { pricingQuery } from '../../api/models.ts'
import { accountsQuery } from '../../api/operator/accounts.ts'
import { useOrganisationId, usePerson } from '../../api/session.ts'
import { inBackground } from '../../parts/page/in-background.ts'

export interface Found {
  readonly kind: 'keys' | 'models' | 'calls' | 'accounts'
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly hint: string
    readonly open: () => void
  }[]
}

/** Limit per kind of result, so that one kind does not crowd out the others. */
const ROWS_MAX = 5
/** Only whole ids are looked up, not every word that is typed. */
const CALL_ID = /^[\w-]{16,}$/

/** Fewer characters match too much to be useful. */
const ACCOUNT_CHARACTERS_MIN = 3
/** Ms without typing before the gateway is asked. */
const TYPING_MS = 200

/** `wanted`: lower case; empty: nothing has been typed. */
export function useFound(wanted: string): readonly Found[] {
  const navigate = useNavigate()
  const organisation = useOrganisationId()
  const typed = wanted !== ''
  const { data: keys = [] } = useQuery({ ...keysQuery(organisation), enabled: typed })
  const { data: offers = [] } = useQuery({ ...pricingQuery(organisation), enabled: typed })
  const calls = useCalls(wanted)
  const accounts = useAccounts(wanted)
  if (!typed) return []
  const fits = (...texts: readonly string[]): boolean =>
    texts.some((text) => text.toLowerCase().includes(wanted))
  const models = new Map(offers.map(({ model_id: id, name }) => [id, name]))
  const found: readonly Found[] = [
    {
      kind: 'keys',
      rows: keys
        .filter(({ name, hint, id }) => fits(name, hint, id))
        .map(({ id, name, hint }) => ({
          id,
          name,
          hint: `${hint}…`,
          open: () => inBackground(navigate({ to: '/keys', search: { key: id } })),
        })),
    },
    {
      kind: 'models',
      rows: [...models]
        .filter(([id, name]) => fits(id, name))
        .map(([id, name]) => ({
          id,
          name,
          hint: id,
          open: () => inBackground(navigate({ to: '/models', search: { model: id } })),
        })),
    },
    { kind: 'calls', rows: calls },
    { kind: 'accounts', rows: accounts },
  ]
  return found
    .map(({ kind, rows }) => ({ kind, rows: rows.slice(0, ROWS_MAX) }))
    .filter(({ rows }) => rows.length > 0)
}

function useCalls(id: string): Found['rows'] {
  const navigate = useNavigate()
  const { data } = useQuery({
    ...callsQuery({ request_id: id, limit: 1 }, useOrganisationId()),
    enabled: CALL_ID.test(id),
  })
  return (data?.data ?? []).map(({ request_id: call, model, model_requested: asked }) => ({
    id: call,
    name: call,
    hint: model ?? asked ?? '',
    open: () => inBackground(navigate({ to: '/calls', search: { request_id: call, call } })),
  }))
}

/** Accounts, by whatever the gateway searches: e-mail address, phone number, name or id. */
function useAccounts(wanted: string): Found['rows'] {
  const navigate = useNavigate()
  const { role } = usePerson()
  const [search] = useDebouncedValue(wanted, TYPING_MS)
  const { data } = useInfiniteQuery({
    ...accountsQuery({ search }),
    enabled: role === 'admin' && search.length >= ACCOUNT_CHARACTERS_MIN,
  })
  return (data?.pages[0]?.data ?? []).map(({ id, name, email, phone }) => ({
    id,
    name: name ?? email ?? phone ?? id,
    hint: email ?? phone ?? id,
    open: () => inBackground(navigate({ to: '/operate/accounts', search: { open: id } })),
  }))
}
