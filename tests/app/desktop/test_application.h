#pragma once
// One QApplication without a display for all cases of a test program.
#include <QApplication>

#include "app/desktop/style.h"

namespace planscope {

inline QApplication& test_application() {
  static int argc = 1;
  static char name[] = "app_desktop_test";
  static char* argv[] = {name, nullptr};
  static QApplication* application = [] {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    auto* a = new QApplication(argc, argv);
    apply_style(*a, Theme::dark);
    return a;
  }();
  return *application;
}

}  // namespace planscope
