// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes in this very process, whatever Java and flags it was started with: RunTests CLASS... */
public final class RunTests {
  private RunTests() {}

  public static void main(String[] names) throws Exception {
    List<DiscoverySelector> classes = new ArrayList<>();
    for (String name : names) {
      classes.add(selectClass(Class.forName("io.github.routecap." + name)));
    }
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(classes).build(), listener);
    TestExecutionSummary summary = listener.getSummary();
    summary.printFailuresTo(new PrintWriter(System.out, true), 15);
    System.out.printf(
        "%s over %s: %d tests, %d failed, %d skipped%n",
        Runtime.version(), RouteCap.api(), summary.getTestsFoundCount(), summary.getTestsFailedCount(),
        summary.getTestsSkippedCount() + summary.getTestsAbortedCount());
    System.exit(summary.getTestsSucceededCount() == summary.getTestsFoundCount() && summary.getTestsFoundCount() > 0 ? 0 : 1);
  }
}
