import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Package, packagesQuery, removePackage } from '../../api/operator/money.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { RowAction, useActionsColumn } from '../../parts/lists/columns.tsx'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { State } from '../../parts/marks/state.tsx'
import { Empty } from '../../parts/page/empty.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import page from '../../parts/page/page.module.css'
import { Balance } from '../../parts/values/balance.tsx'
import { PackageForm } from './package-form.tsx'
import { Worth } from './top-ups.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** Packages that can be bought. */
export function Packages() {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [edited, edit] = useState<Package | 'new'>()
  const [removed, ask] = useState<Package>()
  const columns = useColumns(ask)
  const packages = useQuery(packagesQuery)
  return (
    <>
      <div className={page.sectionHead}>
        <span className={page.muted}>{t('money.packagesLead')}</span>
        <Button leftSection={<Icon name="plus" />} onClick={() => edit('new')}>
          {t('money.addPackage')}
        </Button>
      </div>
      <Loaded query={packages} height={240}>
        {(all) =>
          all.length === 0 ? (
            <NoPackages />
          ) : (
            <DataTable
              label={t('money.tabs.packages')}
              columns={columns}
              rows={all}
              idOf={({ code }) => code}
              isQuiet={({ status }) => status === 'disabled'}
              onChoose={edit}
            />
          )
        }
      </Loaded>
      {edited !== undefined && (
        <PackageForm of={edited === 'new' ? undefined : edited} onClose={() => edit(undefined)} />
      )}
      {removed !== undefined && (
        <Confirm
          title={t('money.removePackageTitle', { name: removed.name })}
          action={t('money.remove')}
          onConfirm={async () => {
            await removePackage(removed.code)
            await queryClient.invalidateQueries({ queryKey: ['packages'] })
          }}
          onClose={() => ask(undefined)}
        >
          {t('money.removePackageText')}
        </Confirm>
      )}
    </>
  )
}

function NoPackages() {
  const { t } = useTranslation()
  return (
    <Empty icon="wallet" title={t('money.noPackages')}>
      {t('money.noPackagesHint')}
    </Empty>
  )
}

function useColumns(onRemove: (one: Package) => void): readonly Column<Package>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'name',
      head: t('money.name'),
      cell: (one) => <Name of={one} />,
    },
    {
      id: 'state',
      head: t('operate.state'),
      cell: ({ status }) =>
        status === 'enabled' ? (
          <State icon="done" tone="good">
            {t('money.onSale')}
          </State>
        ) : (
          <State icon="paused" tone="quiet">
            {t('money.offSale')}
          </State>
        ),
    },
    {
      id: 'price',
      head: t('money.price'),
      kind: 'number',
      cell: ({ price }) => <Balance value={price} />,
    },
    { id: 'worth', head: t('money.worth'), kind: 'number', cell: (one) => <Worth of={one} /> },
    useActionsColumn<Package>((one) => (
      <RowAction label={t('money.removeOne', { name: one.name })} onClick={() => onRemove(one)}>
        {t('money.remove')}
      </RowAction>
    )),
  ]
}

function Name({ of: { name, code } }: { readonly of: Package }) {
  return (
    <>
      <span className={table.first}>{name}</span>
      <span className={table.second}>
        <code>{code}</code>
      </span>
    </>
  )
}
