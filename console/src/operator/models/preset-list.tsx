import { useQuery } from '@tanstack/react-query'
import { type Preset, presetsQuery } from '../../api/operator/models.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Filters } from '../../parts/lists/filters.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { State } from '../../parts/marks/state.tsx'
import table from '../../parts/lists/table.module.css'
import { Find } from '../parts/find.tsx'
import { useAddress } from '../parts/use-address.ts'
import { PresetSheet } from './preset-sheet.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Vendors that the gateway knows with their models and list prices. */
export function PresetList() {
  const { t } = useTranslation()
  const [{ open, find = '' }, change, sheet] = useAddress()
  const presets = useQuery(presetsQuery)
  const columns = useColumns()
  const wanted = find.trim().toLowerCase()
  const opened = presets.data?.find(({ code }) => code === open)
  return (
    <>
      <Filters>
        <Find label={t('catalogue.findPreset')} value={find} onChange={(text) => change({ find: text })} />
      </Filters>
      <Loaded query={presets} height={480}>
        {(all) => {
          const rows = all.filter(({ code, name, models }) =>
            [code, name, ...models.map(({ model_id: id }) => id)].join(' ').toLowerCase().includes(wanted),
          )
          return rows.length === 0 ? (
            <Empty icon="filter" title={t('nothingFits')} />
          ) : (
            <DataTable
              label={t('catalogue.tabs.presets')}
              columns={columns}
              rows={rows}
              idOf={({ code }) => code}
              chosen={open}
              onChoose={({ code }) => sheet.open(code)}
            />
          )
        }}
      </Loaded>
      {opened !== undefined && <PresetSheet key={open} of={opened} onClose={sheet.close} />}
    </>
  )
}

function useColumns(): readonly Column<Preset>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'vendor',
      head: t('catalogue.vendor'),
      cell: ({ name, code }) => (
        <>
          <span className={table.first}>{name}</span>
          <span className={table.second}>
            <code>{code}</code>
          </span>
        </>
      ),
    },
    {
      id: 'here',
      head: t('catalogue.here'),
      wide: true,
      cell: ({ in_catalogue: known }) =>
        known ? (
          <State icon="done" tone="good">
            {t('catalogue.isHere')}
          </State>
        ) : (
          '–'
        ),
    },
    {
      id: 'models',
      head: t('catalogue.presetModels'),
      kind: 'number',
      cell: ({ models }) =>
        t('catalogue.ofModels', {
          known: models.filter(({ in_catalogue: known }) => known).length,
          count: models.length,
        }),
    },
    {
      id: 'key',
      head: t('catalogue.vendorKey'),
      kind: 'muted',
      wide: true,
      cell: ({ has_key: known, variable }) => (known ? t('catalogue.keyKnown') : (variable ?? '–')),
    },
  ]
}
