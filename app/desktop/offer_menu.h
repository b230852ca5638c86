#pragma once
// The context menu of a thing: what the session offers for it. What a choice would change is beside it, as soon as that
// is known; what cannot be done is disabled, with the reason.
//
//   auto* menu = new OfferMenu(session::offers(state, line), run, window);
//   menu->popup(where);
//   menu->refresh(session::offers(newer, line));
#include <QMenu>
#include <functional>
#include <map>

#include "app/session/offers.h"

namespace planscope {

class OfferMenu : public QMenu {
 public:
  using Run = std::function<void(const session::Offer&)>;

  OfferMenu(const session::Offers& offers, Run run, QWidget* parent);

  void refresh(const session::Offers& offers);

 private:
  void fill(QMenu& menu, const QString& group, const std::vector<session::Offer>& offers);
  void show_offer(QAction& action, const session::Offer& offer);

  Run run_;
  QAction* end_;  // of what is offered; entries of the view follow
  session::Offers offers_;
  std::map<QString, QMenu*> groups_;
};

}  // namespace planscope
