import { Button } from '@mantine/core'
import { Icon } from '../parts/marks/icon.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'
import { PageTitle } from '../parts/page/page-title.tsx'
import parts from '../parts/page/parts.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** Shown without the frame: nobody needs to be signed in. */
export function NotFound() {
  const { t } = useTranslation()
  return (
    <main className={parts.empty}>
      <span className={parts.emptyIcon}>
        <Icon name="search" size={20} />
      </span>
      <PageTitle>{t('notFound.title')}</PageTitle>
      <p className={parts.muted}>{t('notFound.text')}</p>
      <div className={parts.emptyAction}>
        <Button component={LinkButton} to="/" variant="default">
          {t('notFound.home')}
        </Button>
      </div>
    </main>
  )
}
