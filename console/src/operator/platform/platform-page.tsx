import { Button } from '@mantine/core'
import { Suspense } from 'react'
import table from '../../parts/lists/table.module.css'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { late } from '../../parts/page/late.ts'
import { PageHead } from '../../parts/page/page-head.tsx'
import { useAddress } from '../parts/use-address.ts'
import { Groups, NEW_GROUP } from './groups.tsx'
import { PlatformSettingsForm } from './settings-form.tsx'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

const FileForm = late(async () => (await import('./file-form.tsx')).FileForm)

const TABS = ['settings', 'groups', 'file'] as const
const PARTS = { settings: PlatformSettingsForm, groups: Groups, file: FileForm } as const

/** The platform: settings, groups of keys, and the gateway file. */
export function PlatformPage() {
  const { t } = useTranslation()
  const [{ tab }, change, sheet] = useAddress()
  const shown = choiceField(tab, TABS) ?? 'settings'
  const Part = PARTS[shown]
  return (
    <>
      <PageHead title={t('operate.pages.settings')} lead={t('platform.lead')}>
        <Segments
          aria-label={t('platform.shown')}
          value={shown}
          data={TABS.map((value) => ({ value, label: t(`platform.tabs.${value}`) }))}
          onChange={(value) => change({ tab: value === 'settings' ? undefined : value, open: undefined })}
        />
        {shown === 'groups' && (
          <Button leftSection={<Icon name="plus" />} onClick={() => sheet.open(NEW_GROUP)}>
            {t('platform.addGroup')}
          </Button>
        )}
      </PageHead>
      <h2 className={table.unseen}>{t(`platform.tabs.${shown}`)}</h2>
      <Suspense>
        <Part />
      </Suspense>
    </>
  )
}
