import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { type Vendor, type VendorKind, vendorKindsQuery, vendorsQuery } from '../../api/operator/catalogue.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { late } from '../../parts/page/late.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { useAddress } from '../parts/use-address.ts'
import { Kinds } from './kinds.tsx'
import { VendorState } from './vendor-state.tsx'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

const AddVendor = late(async () => (await import('./add-vendor.tsx')).AddVendor)
const VendorSheet = late(async () => (await import('./vendor-sheet.tsx')).VendorSheet)

/** In the address in place of a code while a vendor is created; followed by a colon and its kind, if one was chosen. */
const NEW = 'new'
const TABS = ['vendors', 'kinds'] as const

/** Vendors and their credentials. */
export function VendorsPage() {
  const { t } = useTranslation()
  const [{ open, tab }, change, sheet] = useAddress()
  const vendors = useQuery({ ...vendorsQuery, refetchInterval: LIVE_MS })
  const kinds = useQuery(vendorKindsQuery)
  const [wanted, kind] = open?.split(':') ?? []
  const opened = vendors.data?.find(({ code }) => code === open)
  return (
    <>
      <PageHead title={t('operate.pages.vendors')} lead={t('vendors.lead')}>
        <Segments
          aria-label={t('vendors.shown')}
          value={tab === 'kinds' ? 'kinds' : 'vendors'}
          data={TABS.map((value) => ({ value, label: t(`vendors.tabs.${value}`) }))}
          onChange={(value) => change({ tab: value === 'kinds' ? value : undefined })}
        />
        <Button leftSection={<Icon name="plus" />} onClick={() => sheet.open(NEW)}>
          {t('vendors.add')}
        </Button>
      </PageHead>
      {tab === 'kinds' ? (
        <Loaded query={kinds} height={640}>
          {(all) => <Kinds all={all} onChoose={({ kind }) => sheet.open(`${NEW}:${kind}`)} />}
        </Loaded>
      ) : (
        <Loaded query={vendors} height={320}>
          {(all) => <List all={all} kinds={kinds.data ?? []} />}
        </Loaded>
      )}
      <Suspense>
        {wanted === NEW && kinds.data !== undefined && (
          <AddVendor
            kinds={kinds.data}
            first={kinds.data.find((each) => each.kind === kind)}
            onClose={sheet.close}
            onMade={(code) => change({ open: code, tab: undefined })}
          />
        )}
        {opened !== undefined && kinds.data !== undefined && (
          <VendorSheet key={opened.code} of={opened} kinds={kinds.data} onClose={sheet.close} />
        )}
      </Suspense>
    </>
  )
}

function List({ all, kinds }: { readonly all: readonly Vendor[]; readonly kinds: readonly VendorKind[] }) {
  const { t } = useTranslation()
  const [{ open }, , sheet] = useAddress()
  const columns = useColumns(kinds)
  if (all.length === 0) {
    return (
      <Empty icon="tool" title={t('vendors.none')}>
        {t('vendors.noneHint')}
      </Empty>
    )
  }
  return (
    <DataTable
      label={t('operate.pages.vendors')}
      columns={columns}
      rows={all}
      idOf={({ code }) => code}
      chosen={open}
      isQuiet={({ status }) => status !== 'enabled'}
      onChoose={({ code }) => sheet.open(code)}
    />
  )
}

function useColumns(kinds: readonly VendorKind[]): readonly Column<Vendor>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'name',
      head: t('vendors.name'),
      cell: ({ name, code }) => (
        <>
          <span className={table.first}>{name}</span>
          <span className={table.second}>
            <code>{code}</code>
          </span>
        </>
      ),
    },
    { id: 'state', head: t('operate.state'), cell: (vendor) => <VendorState status={vendor.status} /> },
    {
      id: 'kind',
      head: t('vendors.kind'),
      wide: true,
      cell: ({ kind, base_url: address }) => (
        <>
          <span className={table.first}>{kinds.find((each) => each.kind === kind)?.name ?? kind}</span>
          <span className={table.second}>
            {address ?? kinds.find((each) => each.kind === kind)?.base_url ?? ''}
          </span>
        </>
      ),
    },
    {
      id: 'credentials',
      head: t('vendors.credentials'),
      kind: 'muted',
      wide: true,
      cell: ({ credentials }) => (credentials.length === 0 ? '–' : credentials.join(', ')),
    },
    { id: 'chains', head: t('vendors.chains'), kind: 'number', cell: ({ chains }) => format.number(chains) },
  ]
}
