import { useQuery } from '@tanstack/react-query'
import { type AnyModel, anyModelsQuery } from '../../api/operator/catalogue.ts'
import { priceChangesQuery } from '../../api/operator/models.ts'
import type { Column } from '../../parts/lists/data-table.tsx'
import { Filter, Filters } from '../../parts/lists/filters.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { late } from '../../parts/page/late.ts'
import { choiceField } from '../../parts/lists/search-fields.ts'
import table from '../../parts/lists/table.module.css'
import { Find } from '../parts/find.tsx'
import { FoundList } from '../parts/found-list.tsx'
import { useAddress } from '../parts/use-address.ts'
import { Margin, Revenue } from '../parts/margin.tsx'
import { MODEL_STATES, ModelStateWord, PriceCell, stateOf, useAdmissionWords } from './model-words.tsx'
import { PERIODS, useEarned, usePeriod } from './use-earned.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const ModelSheet = late(async () => (await import('./model-sheet.tsx')).ModelSheet)

export function ModelList() {
  const { t } = useTranslation()
  const [{ find = '', state }] = useAddress()
  const models = useQuery(anyModelsQuery)
  const wanted = find.trim().toLowerCase()
  const status = choiceField(state, MODEL_STATES)
  const columns = useColumns()
  const all = models.data ?? []
  return (
    <>
      <ModelFilters />
      <FoundList
        query={models}
        height={480}
        none={
          all.length === 0
            ? { icon: 'models', title: t('catalogue.none'), hint: t('catalogue.noneHint') }
            : { icon: 'models', title: t('nothingFits') }
        }
        label={t('operate.pages.models')}
        columns={columns}
        rows={all.filter(
          (model) =>
            `${model.model_id} ${model.name}`.toLowerCase().includes(wanted) &&
            (status === undefined || stateOf(model) === status),
        )}
        idOf={({ model_id: id }) => id}
        isQuiet={(model) => stateOf(model) === 'disabled'}
        sheet={({ id, close }) => {
          const opened = all.find(({ model_id: model }) => model === id)
          return opened !== undefined && <ModelSheet of={opened} onClose={close} />
        }}
      />
    </>
  )
}

function ModelFilters() {
  const { t } = useTranslation()
  const [{ find, state }, change] = useAddress()
  const period = usePeriod()
  return (
    <Filters>
      <Find label={t('catalogue.find')} value={find} onChange={(text) => change({ find: text })} />
      <Filter
        label={t('operate.state')}
        value={choiceField(state, MODEL_STATES)}
        options={MODEL_STATES.map((value) => ({ value, label: t(`catalogue.states.${value}`) }))}
        onChange={(value) => change({ state: value })}
      />
      <Filter
        always
        label={t('overview.period')}
        value={period}
        options={PERIODS.map((value) => ({ value, label: t(`calls.periods.${value}`) }))}
        onChange={(value) => change({ period: value })}
      />
    </Filters>
  )
}

function useColumns(): readonly Column<AnyModel>[] {
  return [...useOfferColumns(), ...useMoneyColumns()]
}

/** Type and admission. */
function useOfferColumns(): readonly Column<AnyModel>[] {
  const { t } = useTranslation()
  const admission = useAdmissionWords()
  return [
    {
      id: 'model',
      head: t('calls.model'),
      cell: ({ model_id: id, name }) => (
        <>
          <span className={table.first}>{name}</span>
          <span className={table.second}>
            <code>{id}</code>
          </span>
        </>
      ),
    },
    {
      id: 'state',
      head: t('operate.state'),
      wide: true,
      cell: (model) => <ModelStateWord of={model} />,
    },
    {
      id: 'admission',
      head: t('catalogue.admission'),
      wide: true,
      cell: (model) => (
        <>
          <span className={table.first}>{admission(model)}</span>
          {model.subscription_covered && (
            <span className={table.second}>{t('catalogue.coveredByPlans')}</span>
          )}
        </>
      ),
    },
  ]
}

function useMoneyColumns(): readonly Column<AnyModel>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const earned = useEarned()
  return [
    {
      id: 'price',
      head: t('catalogue.inOut'),
      kind: 'number',
      cell: ({ pricing }) => <PriceCell of={pricing} />,
    },
    {
      id: 'coming',
      head: t('catalogue.coming'),
      kind: 'muted',
      wide: true,
      cell: ({ model_id: id }) => <Coming model={id} />,
    },
    {
      id: 'chains',
      head: t('catalogue.chains'),
      kind: 'number',
      wide: true,
      cell: ({ chains }) => format.number(chains.length),
    },
    {
      id: 'revenue',
      head: t('catalogue.revenue'),
      kind: 'number',
      wide: true,
      cell: ({ model_id: id }) => <Revenue of={earned(id)} />,
    },
    {
      id: 'margin',
      head: t('catalogue.margin'),
      kind: 'number',
      wide: true,
      cell: ({ model_id: id }) => <Margin of={earned(id)} />,
    },
  ]
}

/** When the model's prices change next. */
function Coming({ model }: { readonly model: string }) {
  const format = useFormat()
  const { data = [] } = useQuery(priceChangesQuery)
  const [next] = data
    .filter(({ model_id: id, status }) => id === model && status === 'pending')
    .map(({ effective_at: at }) => at)
    .sort()
  return next === undefined ? '–' : <span title={format.moment(next)}>{format.day(next)}</span>
}
