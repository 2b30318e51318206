import { Button, Checkbox, Switch, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense } from 'react'
import type { Offer } from '../api/models.ts'
import { type Column, DataTable } from '../parts/lists/data-table.tsx'
import { Filter, Filters } from '../parts/lists/filters.tsx'
import { choiceField } from '../parts/lists/search-fields.ts'
import table from '../parts/lists/table.module.css'
import { Icon } from '../parts/marks/icon.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { late } from '../parts/page/late.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import { PageHead } from '../parts/page/page-head.tsx'
import { type ChangeAddress, useSheetAddress } from '../parts/page/use-sheet-address.ts'
import { CopyIcon } from '../parts/snippets/copy-button.tsx'
import { useFormat } from '../parts/values/format.ts'
import { Health, Missing } from './admission.tsx'
import styles from './models.module.css'
import { isBilled, OwnPrice, PRICES, type Price, PriceName } from './prices.tsx'
import type { ModelsSearch } from './search.ts'
import { FEATURES } from '../parts/values/features.ts'
import { HEALTHS, type Model, useModels } from './use-models.ts'
import { useTranslation } from '../texts/use-translation.ts'

const ModelSheet = late(async () => (await import('./model-sheet.tsx')).ModelSheet)
const Comparison = late(async () => (await import('./comparison.tsx')).Comparison)

const route = getRouteApi('/frame/models')
/** The most models that fit side by side. */
const COMPARED_MAX = 4

export function ModelsPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const [change, sheet] = useSheetAddress<ModelsSearch, 'model'>('model')
  const models = useModels()
  const open = models.data?.find(({ model_id }) => model_id === search.model)
  return (
    <>
      <PageHead title={t('pages.models')} lead={t('models.lead')} />
      <Loaded query={models} height={480}>
        {(all) => <Catalogue all={all} search={search} onChange={change} onOpen={sheet.open} />}
      </Loaded>
      {open !== undefined && (
        <Suspense>
          <ModelSheet of={open} onClose={sheet.close} />
        </Suspense>
      )}
    </>
  )
}

interface CatalogueProps {
  readonly all: readonly Model[]
  readonly search: ModelsSearch
  readonly onChange: ChangeAddress<ModelsSearch>
  readonly onOpen: (id: string) => void
}

function Catalogue({ all, search, onChange, onOpen }: CatalogueProps) {
  const { t } = useTranslation()
  const shown = all.filter((model) => fits(model, search))
  const chosen = idsOf(search)
  return (
    <>
      <ModelFilters search={search} sum={t('models.count', { count: shown.length })} onChange={onChange} />
      {shown.length === 0 ? (
        <Empty
          icon="models"
          title={t('nothingFits')}
          action={
            <Button
              variant="default"
              onClick={() =>
                onChange({ find: undefined, feature: undefined, health: undefined, open: undefined })
              }
            >
              {t('clearFilters')}
            </Button>
          }
        />
      ) : (
        <ModelTable
          shown={shown}
          chosen={chosen}
          onOpen={onOpen}
          onCompare={(ids) => onChange({ compare: ids.length === 0 ? undefined : ids.join(',') })}
        />
      )}
      {chosen.length > 1 && (
        <Suspense>
          <Comparison
            models={all.filter(({ model_id }) => chosen.includes(model_id))}
            onClear={() => onChange({ compare: undefined })}
          />
        </Suspense>
      )}
    </>
  )
}

/** The ids of the compared models. */
function idsOf({ compare = '' }: ModelsSearch): readonly string[] {
  return compare === '' ? [] : compare.split(',')
}

function fits(model: Model, { find = '', feature, health, open }: ModelsSearch): boolean {
  const wanted = find.trim().toLowerCase()
  return (
    `${model.model_id} ${model.name}`.toLowerCase().includes(wanted) &&
    (feature === undefined || model.features.includes(feature)) &&
    (health === undefined || model.health === health) &&
    (open === undefined || model.missing.length === 0)
  )
}

interface ModelFiltersProps {
  readonly search: ModelsSearch
  readonly sum: string
  readonly onChange: ChangeAddress<ModelsSearch>
}

function ModelFilters({ search, sum, onChange }: ModelFiltersProps) {
  const { t } = useTranslation()
  return (
    <Filters sum={sum}>
      <TextInput
        size="xs"
        className={styles.find ?? ''}
        aria-label={t('models.find')}
        placeholder={t('models.find')}
        leftSection={<Icon name="search" size={14} />}
        value={search.find ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ find: value === '' ? undefined : value })}
      />
      <Filter
        label={t('models.feature')}
        value={search.feature}
        options={FEATURES.map((value) => ({ value, label: t(`features.${value}`) }))}
        onChange={(value) => onChange({ feature: choiceField(value, FEATURES) })}
      />
      <Filter
        label={t('models.health')}
        value={search.health}
        options={HEALTHS.map((value) => ({ value, label: t(`models.healths.${value}`) }))}
        onChange={(value) => onChange({ health: choiceField(value, HEALTHS) })}
      />
      <Switch
        className={styles.mine ?? ''}
        label={t('models.open')}
        checked={search.open !== undefined}
        onChange={({ currentTarget: { checked } }) => onChange({ open: checked ? 'yes' : undefined })}
      />
    </Filters>
  )
}

interface ModelTableProps {
  readonly shown: readonly Model[]
  /** The ids of the compared models. */
  readonly chosen: readonly string[]
  readonly onOpen: (id: string) => void
  readonly onCompare: (ids: readonly string[]) => void
}

function ModelTable({ shown, chosen, onOpen, onCompare }: ModelTableProps) {
  const { t } = useTranslation()
  const columns = useColumns()
  const compare: Column<Model> = {
    id: 'compare',
    head: t('models.compare'),
    wide: true,
    cell: ({ model_id: id }) => (
      <Checkbox
        size="xs"
        aria-label={t('models.compareOne', { model: id })}
        checked={chosen.includes(id)}
        disabled={chosen.length >= COMPARED_MAX && !chosen.includes(id)}
        onChange={({ currentTarget: { checked } }) =>
          onCompare(checked ? [...chosen, id] : chosen.filter((each) => each !== id))
        }
      />
    ),
  }
  return (
    <DataTable
      label={t('pages.models')}
      columns={[...columns, compare]}
      rows={shown}
      idOf={({ model_id }) => model_id}
      isQuiet={({ missing }) => missing.length > 0}
      onChoose={({ model_id }) => onOpen(model_id)}
    />
  )
}

function useColumns(): readonly Column<Model>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const priceColumn = (price: Price): Column<Model> => ({
    id: price,
    head: <PriceName price={price} />,
    kind: 'number',
    wide: true,
    cell: ({ offers: [offer] }) =>
      offer !== undefined && isBilled(offer, price) ? <OwnPrice offer={offer} price={price} /> : '–',
  })
  return [
    {
      id: 'model',
      head: t('calls.model'),
      cell: ({ model_id, name }) => (
        <span className={styles.name}>
          <span>
            <span className={table.first}>{name}</span>
            <span className={table.second}>
              <code>{model_id}</code>
            </span>
          </span>
          <CopyIcon value={model_id} label={t('models.copy', { model: model_id })} size="sm" />
        </span>
      ),
    },
    {
      id: 'context',
      head: t('models.context'),
      kind: 'number',
      wide: true,
      cell: ({ context_tokens }) => (context_tokens === null ? '–' : format.short(context_tokens)),
    },
    priceColumn('input_price'),
    priceColumn('cache_input_price'),
    { ...priceColumn('output_price'), cell: ({ offers: [offer] }) => <OutputPrice of={offer} /> },
    { id: 'health', head: t('models.health'), cell: ({ health }) => <Health of={health} /> },
    { id: 'missing', head: t('models.admission'), wide: true, cell: (model) => <Missing of={model} /> },
  ]
}

/** The output price: by tokens, or by the unit that the model is billed by. */
function OutputPrice({ of: offer }: { readonly of: Offer | undefined }) {
  const { t } = useTranslation()
  if (offer === undefined) return '–'
  if (isBilled(offer, 'output_price')) return <OwnPrice offer={offer} price="output_price" />
  const others = PRICES.filter((price) => isBilled(offer, price))
  return (
    <>
      {others.map((price) => (
        <span key={price} className={table.first}>
          <OwnPrice offer={offer} price={price} />{' '}
          <span className={table.muted}>{t(`models.units.${price}`)}</span>
        </span>
      ))}
    </>
  )
}
