#include "app/desktop/offer_menu.h"

#include <algorithm>

namespace planscope {

namespace {

constexpr int longest_title = 70;

QString text(const std::string& s) { return QString::fromStdString(s); }

QString shortened(const QString& t) {
  return t.size() <= longest_title ? t : t.left(longest_title - 1) + QStringLiteral("…");
}

}  // namespace

OfferMenu::OfferMenu(const session::Offers& offers, Run run, QWidget* parent) : QMenu(parent), run_(std::move(run)) {
  setObjectName("offers");
  setToolTipsVisible(true);
  setAttribute(Qt::WA_DeleteOnClose);
  setAccessibleName(offers.title.empty() ? tr("What can be done here") : tr("What can be done with %1").arg(text(offers.title)));
  if (!offers.title.empty()) addAction(shortened(text(offers.title)))->setEnabled(false);
  end_ = addSeparator();
  refresh(offers);
}

void OfferMenu::show_offer(QAction& action, const session::Offer& o) {
  QString title = shortened(text(o.title)).replace('&', "&&");
  if (!o.beside.empty()) title += '\t' + shortened(text(o.beside));
  action.setText(title);
  action.setEnabled(o.reason.empty());
  action.setToolTip(o.reason.empty() ? text(o.title + (o.beside.empty() ? "" : "\n" + o.beside))
                                     : tr("Not now: %1").arg(text(o.reason)));
}

// Entries that are there stay where they are, so that nothing moves under the mouse.
void OfferMenu::fill(QMenu& menu, const QString& group, const std::vector<session::Offer>& offers) {
  for (const session::Offer& o : offers) {
    if (text(o.group) != group) continue;
    const QString name = text(o.title);
    QAction* action = menu.findChild<QAction*>(name, Qt::FindDirectChildrenOnly);
    if (!action) {
      action = new QAction(&menu);
      action->setObjectName(name);
      menu.insertAction(&menu == this ? end_ : nullptr, action);
      connect(action, &QAction::triggered, this, [this, group, name] {
        for (const session::Offer& known : offers_.all)
          if (text(known.group) == group && text(known.title) == name) return run_(known);
      });
    }
    show_offer(*action, o);
  }
}

void OfferMenu::refresh(const session::Offers& offers) {
  if (offers.all == offers_.all) return;
  // What is offered no longer goes; the others stay where they are.
  for (const session::Offer& o : offers_.all) {
    const auto again = [&](const session::Offer& n) { return n.group == o.group && n.title == o.title; };
    if (std::any_of(offers.all.begin(), offers.all.end(), again)) continue;
    QMenu* menu = o.group.empty() ? this : groups_[text(o.group)];
    delete menu->findChild<QAction*>(text(o.title), Qt::FindDirectChildrenOnly);
  }
  offers_ = offers;
  fill(*this, {}, offers.all);
  for (const session::Offer& o : offers.all) {
    if (o.group.empty()) continue;
    QMenu*& menu = groups_[text(o.group)];
    if (menu) continue;
    menu = new QMenu(text(o.group), this);
    insertMenu(end_, menu);
    menu->setToolTipsVisible(true);
    menu->setAccessibleName(text(o.group));
  }
  for (const auto& [group, menu] : groups_) fill(*menu, group, offers.all);
}

}  // namespace planscope
