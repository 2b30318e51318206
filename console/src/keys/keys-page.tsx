import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { type Key, type KeyLimits, keyLimitsQuery, keysQuery, type NewKey } from '../api/keys.ts'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'
import { Filter, Filters } from '../parts/lists/filters.tsx'
import { choiceField } from '../parts/lists/search-fields.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { late } from '../parts/page/late.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import { PageHead } from '../parts/page/page-head.tsx'
import { type ChangeAddress, useSheetAddress } from '../parts/page/use-sheet-address.ts'
import { KEY_STATES, stateOf } from './key-state.ts'
import { KeyTable } from './key-table.tsx'
import type { KeysSearch } from './search.ts'
import { useTranslation } from '../texts/use-translation.ts'

const KeySheet = late(async () => (await import('./key-sheet.tsx')).KeySheet)
const KeyReady = late(async () => (await import('./key-ready.tsx')).KeyReady)

const route = getRouteApi('/frame/keys')
/** In the address in place of an id while a key is created. */
const NEW = 'new'

export function KeysPage() {
  const { t } = useTranslation()
  const { key: open } = route.useSearch()
  const organisation = useOrganisationId()
  const keys = useQuery({ ...keysQuery(organisation), refetchInterval: LIVE_MS })
  // Requested in parallel with the keys.
  const limits = useQuery({ ...keyLimitsQuery(organisation), refetchInterval: LIVE_MS })
  const [ready, setReady] = useState<NewKey>()
  const [change, sheet] = useSheetAddress<KeysSearch, 'key'>('key')
  const showReady = (made: NewKey): void => {
    sheet.close()
    setReady(made)
  }
  const create = (
    <Button leftSection={<Icon name="plus" />} onClick={() => sheet.open(NEW)}>
      {t('keys.create')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('pages.keys')} lead={t('keys.lead')}>
        {create}
      </PageHead>
      <Loaded query={keys} height={360}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="key" title={t('keys.none')} action={create}>
              {t('keys.noneHint')}
            </Empty>
          ) : (
            <List
              all={all}
              limits={limits.data ?? []}
              onFilter={change}
              onOpen={sheet.open}
              onReady={setReady}
            />
          )
        }
      </Loaded>
      <Suspense>
        {open !== undefined && (
          <OpenKey id={open} keys={keys.data ?? []} onClose={sheet.close} onMade={showReady} />
        )}
        {ready !== undefined && <KeyReady made={ready} onClose={() => setReady(undefined)} />}
      </Suspense>
    </>
  )
}

interface OpenKeyProps {
  readonly id: string
  readonly keys: readonly Key[]
  readonly onClose: () => void
  readonly onMade: (made: NewKey) => void
}

/** The form that the address names; closed until its key is loaded. */
function OpenKey({ id, keys, onClose, onMade }: OpenKeyProps) {
  const of = keys.find((key) => key.id === id)
  return (
    <KeySheet key={id} of={of} opened={id === NEW || of !== undefined} onClose={onClose} onMade={onMade} />
  )
}

interface ListProps {
  readonly all: readonly Key[]
  readonly limits: readonly KeyLimits[]
  readonly onFilter: ChangeAddress<KeysSearch>
  readonly onOpen: (id: string) => void
  readonly onReady: (made: NewKey) => void
}

function List({ all, limits, onFilter, onOpen, onReady }: ListProps) {
  const { t } = useTranslation()
  const { state, model, group } = route.useSearch()
  const limitsOf = new Map(limits.map((each) => [each.id, each]))
  const now = Date.now()
  const states = new Map(all.map((key) => [key.id, stateOf(key, limitsOf.get(key.id), now)]))
  const shown = all.filter(
    (key) =>
      (state === undefined || states.get(key.id) === state) &&
      (model === undefined || key.models.length === 0 || key.models.includes(model)) &&
      (group === undefined || key.group === group),
  )
  const inUse = [...states.values()].filter((each) => each === 'enabled' || each === 'limited').length
  return (
    <>
      <KeyFilters all={all} sum={t('keys.count', { count: all.length, inUse })} onChange={onFilter} />
      {shown.length === 0 ? (
        <Empty
          icon="filter"
          title={t('nothingFits')}
          action={
            <Button
              variant="default"
              onClick={() => onFilter({ state: undefined, model: undefined, group: undefined })}
            >
              {t('clearFilters')}
            </Button>
          }
        />
      ) : (
        <KeyTable keys={shown} limitsOf={limitsOf} states={states} onOpen={onOpen} onReady={onReady} />
      )}
    </>
  )
}

interface KeyFiltersProps {
  readonly all: readonly Key[]
  readonly sum: string
  readonly onChange: ChangeAddress<KeysSearch>
}

function KeyFilters({ all, sum, onChange }: KeyFiltersProps) {
  const { t } = useTranslation()
  const { state, model, group } = route.useSearch()
  return (
    <Filters sum={sum}>
      <Filter
        label={t('keys.state')}
        value={state}
        options={KEY_STATES.map((value) => ({ value, label: t(`keys.states.${value}`) }))}
        onChange={(value) => onChange({ state: choiceField(value, KEY_STATES) })}
      />
      <Filter
        label={t('calls.model')}
        value={model}
        options={optionsOf(all.flatMap(({ models }) => models))}
        onChange={(value) => onChange({ model: value })}
      />
      <Filter
        label={t('keys.group')}
        value={group}
        options={optionsOf(all.flatMap((key) => key.group ?? []))}
        onChange={(value) => onChange({ group: value })}
      />
    </Filters>
  )
}

function optionsOf(values: readonly string[]): readonly { readonly value: string; readonly label: string }[] {
  return [...new Set(values)].sort().map((value) => ({ value, label: value }))
}
