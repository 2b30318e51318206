import { useQuery } from '@tanstack/react-query'
import { type PriceChange, priceChangesQuery } from '../../api/operator/models.ts'
import { useActionsColumn } from '../../parts/lists/columns.tsx'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { State } from '../../parts/marks/state.tsx'
import { FoundList } from '../parts/found-list.tsx'
import { useAddress } from '../parts/use-address.ts'
import { PriceCell } from './model-words.tsx'
import { CancelPrices } from './price-history.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

const STATES = ['pending', 'applied', 'cancelled'] as const
const SIGNS = {
  pending: { icon: 'clock', tone: 'warn' },
  applied: { icon: 'done', tone: 'good' },
  cancelled: { icon: 'close', tone: 'quiet' },
} as const

/** Scheduled price changes of all models. */
export function PriceChangeList() {
  const { t } = useTranslation()
  const [{ state }, change] = useAddress()
  const wanted = choiceField(state, STATES)
  const changes = useQuery(priceChangesQuery)
  const columns = useColumns()
  return (
    <>
      <Filters>
        <Filter
          label={t('operate.state')}
          value={wanted}
          options={STATES.map((value) => ({ value, label: t(`catalogue.changeStates.${value}`) }))}
          onChange={(value) => change({ state: value })}
        />
      </Filters>
      <FoundList
        query={changes}
        height={320}
        none={{ icon: 'clock', title: t('catalogue.noChanges'), hint: t('catalogue.noChangesHint') }}
        label={t('catalogue.tabs.changes')}
        columns={columns}
        rows={(changes.data ?? []).filter(({ status }) => wanted === undefined || status === wanted)}
        idOf={({ id }) => id}
        isQuiet={({ status }) => status === 'cancelled'}
        onChoose={({ model_id: id }) => change({ tab: undefined, state: undefined, open: id }, 'push')}
      />
    </>
  )
}

function useColumns(): readonly Column<PriceChange>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const actions = useActionsColumn<PriceChange>((one) =>
    one.status === 'pending' ? <CancelPrices of={one} /> : null,
  )
  return [
    { id: 'model', head: t('calls.model'), cell: ({ model_id: id }) => <code>{id}</code> },
    {
      id: 'state',
      head: t('operate.state'),
      cell: ({ status }) => <State {...SIGNS[status]}>{t(`catalogue.changeStates.${status}`)}</State>,
    },
    {
      id: 'from',
      head: t('catalogue.from'),
      kind: 'muted',
      cell: ({ effective_at: at }) => format.moment(at),
    },
    {
      id: 'price',
      head: t('catalogue.inOut'),
      kind: 'number',
      cell: (one) => <PriceCell of={one.pricing} />,
    },
    {
      id: 'made',
      head: t('catalogue.planned'),
      kind: 'muted',
      wide: true,
      cell: ({ created_at: at }) => format.recent(at),
    },
    actions,
  ]
}
